import HealthModel
import Logging
import Protocol
import StageKit
import Synchronization
import TestSupport
import Testing

/// A sender can choose its names and topics, but not how much of them is logged.
@Suite struct ForeignWordsTests {
    @Test func aFloodUnderManyNamesIsOneLineOfEachKind() {
        let lines = Mutex<[(name: String, length: Int)]>([])
        let words = ForeignWords(
            StageLog { event, _, fields in
                let length = fields.reduce(0) { $0 + "\($1.value)".count }
                lines.withLock { $0.append((event.name, length)) }
            })
        let long = String(repeating: "x", count: 100_000)
        for number in 0..<200 {
            words.note(Message(topic: long, header: .init(from: "\(number)\(long)", at: 0), body: [:]))
            words.note(MessageError.header(topic: long))
        }
        let told = lines.withLock { $0 }
        #expect(told.map(\.name) == ["message.foreign", "message.malformed"])
        #expect(told.allSatisfy { $0.length < 200 })
    }
}
