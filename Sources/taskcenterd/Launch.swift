import Delivery
import Dispatch
import Exports
import Fetches
import Glibc
import JSON
import Platform
import SQLite
import TaskConfig
import TaskEngine
import TaskModel
import TaskService
import TaskStorage
import Uploads

/// Puts the engine together and opens the door.
struct Launch {
  let options: Options
  let environment: [String: String]
  /// The real stdout; descriptor 1 is stderr by now.
  let output: OpenFile
  let log: Log

  /// Why the engine does not start, as an exit status of sysexits.h and a sentence.
  struct Refusal: Error {
    let status: Int32
    let message: String
  }

  /// - Returns: what listens to SIGHUP for as long as it is kept.
  /// - Throws: `Refusal`.
  func start(ending: Ending) throws -> any DispatchSourceSignal {
    let config = CurrentConfig(try loadConfig())
    let clients = Clients(config.value)
    let (folder, unsynced) = try makeStoreFolder()
    guard let lock = try orRefuse(73, "the store \(folder) can't be locked", { try EngineLock.take(folder: folder) })
    else {
      throw Refusal(
        status: 75, message: "another engine owns the store \(folder); it is reached through \(folder)/engine.sock")
    }
    ending.hold(lock)
    let frontEnds = FrontEndRegistry(clock: SystemClock())
    let (parts, uploader) = makeParts(config, clients, folder, frontEnds)
    let (engine, notice) = try makeEngine(parts, folder)
    // Before anything is promised; behind the database, whose own sync has taken most of it to the disk.
    try orRefuse(73, "the store \(folder) can't be kept") { for folder in unsynced { try Folder.sync(folder) } }
    uploader.borrow(from: engine.slotLender)
    if let notice {
      engine.status.add(notice: notice)
      log(.error, notice)
    }
    let service = Service(engine: engine, storeFolder: folder, frontEnds: frontEnds)
    // Before anything runs: who has asked to be left alone is left alone also by the next engine.
    for (origin, restMs) in engine.heldOrigins { clients.hold(origin, forMs: restMs) }
    let (path, environment) = (options.config, environment)
    let reload = Reload(engine: engine, config: config, clients: clients, log: log) {
      try ConfigFile.load(path: path, environment: environment)
    }
    ending.engine = engine
    ending.service = service
    // Whoever has an answer of ours may send the signal.
    let listening = reload.listen()
    try open(service, folder, ending)
    return listening
  }

  private func open(_ service: Service, _ folder: String, _ ending: Ending) throws {
    let main = Session(
      service: service, input: OpenFile(owning: dup(0)), output: output,
      drainMs: options.linger ? nil : Launch.drainMs, onEnd: { _ in ending.mainSessionEnded() })
    let engine = service.engine
    let log = log
    // Questions are answered at once; what is submitted meanwhile queues behind what the store holds.
    try orRefuse(70, "stdin can't be read") { try main.start() }
    Task {
      do {
        await engine.start()
        try Door.open(folder: folder) { connection in
          let session = Session(
            service: service, input: connection, output: connection, drainMs: Launch.drainMs, onEnd: { _ in })
          do { try session.start() } catch { log(.error, "a caller can't be served: \(error)") }
        }
      } catch {
        log(.error, "the engine can't start: \(error)")
        exit(70)
      }
    }
  }

  /// Twice this and the stop of the work stay within the 5 s within which the engine ends.
  private static let drainMs = 1_000

  private func loadConfig() throws -> Config {
    do {
      return try ConfigFile.load(path: options.config, environment: environment)
    } catch {
      throw Refusal(status: 78, message: "the config is broken: \(error)")
    }
  }

  private func makeStoreFolder() throws -> (folder: String, unsynced: [String]) {
    let folder = Launch.absolute(options.store ?? Places(environment).store)
    return try orRefuse(73, "the store \(folder) can't be made") {
      let names = ["", "/exports", "/sources"]
      return (folder, Array(Set(try names.flatMap { try Folder.make(folder + $0, mode: 0o700) })))
    }
  }

  private static func absolute(_ path: String) -> String {
    if path.hasPrefix("/") { return path }
    guard let current = getcwd(nil, 0) else { return path }
    defer { free(current) }
    return String(cString: current) + "/" + path
  }

  private func makeParts(
    _ config: CurrentConfig, _ clients: Clients, _ folder: String, _ frontEnds: FrontEndRegistry
  ) -> (Engine.Parts, UploadService) {
    let (exports, sources) = (folder + "/exports", folder + "/sources")
    let clock = SystemClock()
    let uploader = UploadService(
      config: config, http: clients.uploads, exportsFolder: exports, clock: clock, frontEnds: frontEnds)
    let parts = Engine.Parts(
      config: config,
      exporter: ExportService(
        folder: exports, sourcesFolder: sources, program: Launch.workerProgram(environment), config: config,
        tellsLacks: options.logLevel >= .debug),
      sources: FetchService(folder: sources, config: config, http: clients.downloads), uploader: uploader,
      deliverer: DeliveryService(config: config, http: clients.uploads, frontEnds: frontEnds), clock: clock, log: log)
    return (parts, uploader)
  }

  private func makeEngine(_ parts: Engine.Parts, _ folder: String) throws -> (Engine, notice: String?) {
    let path = folder + "/taskcenter.db"
    if let version = StoreFile.newerVersion(path) {
      throw Refusal(status: 65, message: version.description)
    }
    do {
      return (try Engine(storePath: path, parts: parts), nil)
    } catch let error as StoreError where error.isNewer {
      throw Refusal(status: 65, message: error.description)
    } catch let error as SQLiteError where error.isCorrupt {
      let aside = try orRefuse(73, "the damaged store can't be set aside") { try StoreFile.setAside(path) }
      let notice = "the store was damaged (\(error.message)); it was set aside as \(aside), and a new one begun"
      return (try orRefuse(73, "no new store can be made") { try Engine(storePath: path, parts: parts) }, notice)
    } catch {
      throw Refusal(status: 73, message: "the store \(path) can't be opened: \(error)")
    }
  }

  /// The worker lies beside this program.
  private static func workerProgram(_ environment: [String: String]) -> String {
    if let path = environment["TASKCENTER_EXPORT"], !path.isEmpty { return path }
    return SystemProcess.programFolder + "/taskcenter-export"
  }

  private func orRefuse<T>(_ status: Int32, _ what: String, _ body: () throws -> T) throws -> T {
    do { return try body() } catch { throw Refusal(status: status, message: "\(what): \(error)") }
  }
}
