import PluginKit
import Synchronization

/// The log events of a stage, by name, with their fields.
final class EventLog: Sendable {
    private let kept = Mutex<[(name: String, fields: [String: String])]>([])

    var stageLog: StageLog {
        StageLog { [self] _, name, fields in
            kept.withLock { $0.append((name, Dictionary(fields, uniquingKeysWith: { first, _ in first }))) }
        }
    }

    func fields(of name: String) -> [[String: String]] {
        kept.withLock { $0.filter { $0.name == name }.map(\.fields) }
    }
}
