public import JSON

extension ExportOrder {
  private enum JobName: String, CaseIterable {
    case image, video, audio, archive, probe, poster, thumbnail
  }
  private enum GoalName: String, CaseIterable {
    case box, ladder
  }

  public var json: JSONValue {
    var object = JSONObject([("id", .int(id)), ("name", .string(name)), ("output", .string(output))])
    if plansOnly { object["plansOnly"] = true }
    switch job {
    case .image(let image):
      object["job"] = .string(JobName.image.rawValue)
      object["longEdge"] = .int(image.longEdge)
      object["quality"] = .int(image.quality)
      object["cropSquare"] = .bool(image.cropSquare)
      object["format"] = .string(image.format.rawValue)
    case .video(let video):
      object["job"] = .string(JobName.video.rawValue)
      object["crf"] = .int(video.crf)
      object["goal"] = Self.json(video.goal)
    case .audio: object["job"] = .string(JobName.audio.rawValue)
    case .probe: object["job"] = .string(JobName.probe.rawValue)
    case .poster(let poster):
      object["job"] = .string(JobName.poster.rawValue)
      object["longEdge"] = .int(poster.longEdge)
      object["quality"] = .int(poster.quality)
    case .thumbnail(let thumbnail):
      object["job"] = .string(JobName.thumbnail.rawValue)
      object["edge"] = .int(thumbnail.edge)
      object["quality"] = .int(thumbnail.quality)
    case .archive(let entries):
      object["job"] = .string(JobName.archive.rawValue)
      object["entries"] = .array(entries.map { ["path": .string($0.path), "name": .string($0.name)] })
    }
    return .object(object)
  }

  /// - Throws: `JSONShapeError`.
  public init(_ reader: JSONReader) throws(JSONShapeError) {
    var fields = try reader.object()
    id = try fields.required("id").int(in: Int64.min...Int64.max)
    name = try fields.required("name").string()
    output = try fields.required("output").string()
    plansOnly = try fields.optional("plansOnly")?.bool() ?? false
    switch try fields.required("job").oneOf(JobName.self) {
    case .image:
      job = .image(
        ImageJob(
          longEdge: Int(try fields.required("longEdge").int(in: 1...65535)),
          quality: Int(try fields.required("quality").int(in: 1...100)),
          cropSquare: try fields.required("cropSquare").bool(),
          format: try fields.required("format").oneOf(ImageJob.Format.self)))
    case .poster:
      job = .poster(
        PosterJob(
          longEdge: Int(try fields.required("longEdge").int(in: 16...8192)),
          quality: Int(try fields.required("quality").int(in: 1...100))))
    case .thumbnail:
      job = .thumbnail(
        ThumbnailJob(
          edge: Int(try fields.required("edge").int(in: 16...4096)),
          quality: Int(try fields.required("quality").int(in: 1...100))))
    case .video:
      let crf = Int(try fields.required("crf").int(in: 0...51))
      job = .video(VideoJob(try Self.goal(fields.required("goal")), crf: crf))
    case .audio: job = .audio
    case .probe: job = .probe
    case .archive:
      var entries: [ArchiveEntry] = []
      for element in try fields.required("entries").array() {
        var entry = try element.object()
        entries.append(
          ArchiveEntry(
            path: try entry.required("path").nonEmptyString(), name: try entry.required("name").nonEmptyString()))
        try entry.finish()
      }
      job = .archive(entries)
    }
    try fields.finish()
  }

  private static func json(_ goal: VideoJob.Goal) -> JSONValue {
    switch goal {
    case .box(let box):
      [
        "type": .string(GoalName.box.rawValue), "longSide": .int(box.longSide), "shortSide": .int(box.shortSide),
        "maximumRate": .int(box.maximumRate), "remux": .string(box.remux.rawValue),
      ]
    case .ladder(let limit, let hardLimit):
      ["type": .string(GoalName.ladder.rawValue), "limit": .int(limit), "hardLimit": .int(hardLimit)]
    }
  }

  private static func goal(_ reader: JSONReader) throws(JSONShapeError) -> VideoJob.Goal {
    var fields = try reader.object()
    let goal: VideoJob.Goal
    switch try fields.required("type").oneOf(GoalName.self) {
    case .box:
      let sides: ClosedRange<Int64> = 2...8192
      goal = .box(
        VideoBox(
          longSide: Int(try fields.required("longSide").int(in: sides)),
          shortSide: Int(try fields.required("shortSide").int(in: sides)),
          maximumRate: try fields.required("maximumRate").int(in: 1...1_000_000_000),
          remux: try fields.required("remux").oneOf(VideoBox.Remux.self)))
    case .ladder:
      let limit = try fields.required("limit").int(in: 1...Int64.max)
      // A hard limit below the limit would be none.
      goal = .ladder(limit: limit, hardLimit: try fields.required("hardLimit").int(in: limit...Int64.max))
    }
    try fields.finish()
    return goal
  }
}
