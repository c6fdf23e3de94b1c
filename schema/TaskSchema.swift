/// The SQL files of this folder, embedded in the binary: the store's only description.
public enum TaskSchema {
  /// In order; number n brings a store from version n − 1 to version n (SQLite's `user_version`). Append-only.
  public static var migrations: [String] {
    [PackageResources.v1_tasks_sql, PackageResources.v2_resumable_uploads_sql].map {
      String(decoding: $0, as: UTF8.self)
    }
  }
}
