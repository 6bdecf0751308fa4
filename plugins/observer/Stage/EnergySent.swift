import HealthModel
import Protocol
import StageKit

/// When a phone has sent active energy, by a way in that has resting energy only within the total. What only the total
/// has is resting energy there; elsewhere nobody knows what it is.
struct EnergySent {
    static let table = ValueTable("energy_sent", key: "phone", value: "spans")

    /// Between active samples that are further apart than this, the phone may not have sent any, in seconds.
    private static let slack: Int64 = 86_400
    private static let limit = 1000

    private var spans: [ClosedRange<Int64>] = []

    /// Notes the active energy in a batch, and says of the total what it is.
    static func complete(_ records: inout RecordBatch, of user: String, from device: String, _ turn: Turn) throws {
        let active = records.types.firstIndex(of: HealthType.activeEnergy).map { Int32($0) }
        let total = records.types.firstIndex(of: HealthType.totalEnergy).map { Int32($0) }
        guard active != nil || total != nil else { return }
        let phone = "\(user)\u{1F}\(device)"
        let saved = try table.value(phone, in: turn.database)
        var sent = EnergySent()
        sent.spans = (saved?.array ?? []).compactMap { ends in
            guard let from = ends.array?.first?.int, let to = ends.array?.last?.int, from <= to else { return nil }
            return from...to
        }
        for row in 0..<records.count where records.type[row] == active {
            sent.add(records.startOf(row).flooredSecond)
        }
        if let total {
            let resting = records.types.place(of: HealthType.restingEnergy)
            for row in 0..<records.count
            where records.type[row] == total && sent.covers(records.startOf(row).flooredSecond) {
                records.type[row] = resting
            }
        }
        let value = Value.array(sent.spans.map { [.integer($0.lowerBound), .integer($0.upperBound)] })
        if value != saved { try table.set(phone, to: value, turn) }
    }

    private mutating func add(_ second: Int64) {
        let near = (second - Self.slack)...(second + Self.slack)
        let joined = spans.filter { $0.overlaps(near) }.reduce(second...second) {
            min($0.lowerBound, $1.lowerBound)...max($0.upperBound, $1.upperBound)
        }
        guard !spans.contains(joined) else { return }
        spans.removeAll { $0.overlaps(near) }
        spans.append(joined)
        spans.sort { $0.lowerBound < $1.lowerBound }
        if spans.count > Self.limit { spans.removeFirst() }
    }

    private func covers(_ second: Int64) -> Bool {
        spans.contains { $0.overlaps((second - Self.slack)...(second + Self.slack)) }
    }
}

extension [String] {
    fileprivate mutating func place(of name: String) -> Int32 {
        if let place = firstIndex(of: name) { return Int32(place) }
        append(name)
        return Int32(count - 1)
    }
}
