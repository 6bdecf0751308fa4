import Logging
import StageKit
import Synchronization
import Testing

/// The log events of a stage, with their fields as text.
final class EventLog: Sendable {
    private let kept = Mutex<[(name: String, fields: [String: String])]>([])

    var stageLog: StageLog {
        StageLog { [self] event, _, fields in
            #expect(event.undeclared(fields.map(\.key)) == nil, "\(event.name) has a field that it doesn't declare")
            let texts = fields.map { ($0.key, "\($0.value)") }
            kept.withLock { $0.append((event.name, Dictionary(texts, uniquingKeysWith: { first, _ in first }))) }
        }
    }

    func fields(of event: LogEvent) -> [[String: String]] {
        kept.withLock { $0.filter { $0.name == event.name }.map(\.fields) }
    }
}

extension EventLog {
    func count(_ name: String) -> Int { kept.withLock { $0.count { $0.name == name } } }
    func contains(_ name: String) -> Bool { count(name) > 0 }
}
