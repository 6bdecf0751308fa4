import Foundation
import Logging

extension StageLog {
    /// The process's log on standard error, configured by the environment. Its size is limited if the supervisor has
    /// redirected standard error to the instance's file.
    ///
    /// - Throws: `Failure` (usage) for an unknown level or category.
    package static func standard(
        _ instance: String, file: String, environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> StageLog {
        let standard = try Log(plugin: instance, environment: environment)
        let log = LogFile(path: file).map { file in standard.writing { file.write($0) } } ?? standard
        let categories = Set(LogEvent.all.map(\.category))
        for category in log.levels.byCategory.keys.sorted() where !categories.contains(category) {
            throw Failure.usage(
                "HEALTHBUS_LOG_LEVEL names the category \"\(category)\", which doesn't exist",
                hint: Nearest.hint(for: category, among: categories.sorted(), quoted: false))
        }
        return StageLog(isWanted: { log.levels.wants($0, failed: $1) }) { log($0, failed: $1, $2) }
    }
}
