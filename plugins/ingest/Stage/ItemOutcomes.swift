import HTTP
import HealthModel
import HealthStore
import JSON
import Protocol

/// The outcome of each item in a request.
struct ItemOutcomes {
    /// By item, from 0; nil for an item that brought nothing.
    private var outcomes: [Word?]
    private var reasons: [(item: Int64, text: String)] = []
    private let statistics: [TakenStatistics]
    private let reply: (@Sendable (_ items: Int64, _ known: Int64) -> [String: Value])?

    enum Word: Int, CaseIterable {
        // In order of importance, for an item with several rows.
        case known, unknown, deleted, changed, added, quarantined

        /// In JSON, by number.
        static let texts = allCases.map { Array("\"\($0)\"".utf8) }
        /// In the order of the answer.
        static let all: [Word] = [.added, .changed, .known, .deleted, .unknown, .quarantined]
    }

    /// - Parameters:
    ///   - statistics: what was taken as statistics; the answer has a member for it unless it is empty.
    ///   - reply: makes what the sender expects besides.
    init(
        items: Int64, statistics: [TakenStatistics],
        reply: (@Sendable (_ items: Int64, _ known: Int64) -> [String: Value])?
    ) {
        outcomes = [Word?](repeating: nil, count: Int(items))
        (self.statistics, self.reply) = (statistics, reply)
    }

    mutating func take(_ content: RequestParts.Content, _ receipt: IngestReceipt) {
        let rows = content.records.count
        for (row, number) in receipt.outcomes.enumerated() {
            guard let outcome = RecordOutcome(rawValue: number) else { continue }
            if row < rows {
                note(content.records.line[row], Self.word(of: outcome))
            } else if row - rows < content.deletedItems.count {
                note(content.deletedItems[row - rows], Self.word(ofDeleting: outcome))
            }
        }
        for reason in receipt.reasons where content.records.line.indices.contains(Int(reason.row)) {
            reasons.append((content.records.line[Int(reason.row)], reason.text))
        }
        for input in content.quarantined {
            note(input.line, receipt.dropped.contains(input.line) ? .deleted : .quarantined)
            reasons.append((input.line, input.reason))
        }
    }

    private mutating func note(_ item: Int64, _ word: Word) {
        guard outcomes.indices.contains(Int(item) - 1) else { return }
        if let before = outcomes[Int(item) - 1], before.rawValue >= word.rawValue { return }
        outcomes[Int(item) - 1] = word
    }

    private static func word(of outcome: RecordOutcome) -> Word {
        switch outcome {
        case .added: .added
        case .known: .known
        case .changed: .changed
        case .deleted: .deleted
        case .quarantined: .quarantined
        }
    }

    /// `added` stands for a sample that isn't here, and will be refused if it comes.
    private static func word(ofDeleting outcome: RecordOutcome) -> Word {
        switch outcome {
        case .deleted: .deleted
        case .added: .unknown
        default: .known
        }
    }

    /// The answer, as described in docs/ways-in.md.
    var answer: HTTPResponse {
        var counts = [Int64](repeating: 0, count: Word.all.count)
        for case let word? in outcomes { counts[word.rawValue] += 1 }
        let (texts, null) = (Word.texts, Array("null".utf8))
        var out: [UInt8] = []
        out.reserveCapacity(outcomes.count * 9 + 256)
        out.append(json: "{\"items\":")
        out.append(json: Int64(outcomes.count))
        for word in Word.all {
            out.append(UInt8(ascii: ","))
            out.append(contentsOf: texts[word.rawValue])
            out.append(UInt8(ascii: ":"))
            out.append(json: counts[word.rawValue])
        }
        out.append(json: ",\"results\":[")
        for (index, word) in outcomes.enumerated() {
            if index > 0 { out.append(UInt8(ascii: ",")) }
            out.append(contentsOf: word.map { texts[$0.rawValue] } ?? null)
        }
        out.append(json: "],\"reasons\":[")
        for (index, reason) in reasons.sorted(by: { $0.item < $1.item }).enumerated() {
            if index > 0 { out.append(UInt8(ascii: ",")) }
            out.append(json: "{\"item\":")
            out.append(json: reason.item)
            out.append(json: ",\"reason\":")
            out.append(jsonString: reason.text)
            out.append(UInt8(ascii: "}"))
        }
        out.append(json: "]")
        if !statistics.isEmpty {
            out.append(json: ",\"statistics\":")
            out.append(contentsOf: Value(statistics).json().utf8)
        }
        let known = counts[Word.known.rawValue]
        for (name, value) in Value.inOrder(reply?(Int64(outcomes.count), known) ?? [:]) {
            out.append(UInt8(ascii: ","))
            out.append(jsonString: name)
            out.append(UInt8(ascii: ":"))
            out.append(contentsOf: value.json().utf8)
        }
        out.append(UInt8(ascii: "}"))
        return HTTPResponse(status: 200, json: out)
    }
}
