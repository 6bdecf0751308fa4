import HealthModel
import JSON

/// A list in a workout's payload whose elements are joined if they are about the same thing.
enum PayloadList {
    /// By type.
    case statistics
    /// By type, second and duration: laps of different lengths begin together.
    case events
    /// By second of the start: a workout's activities don't overlap, and exports don't print their kind.
    case activities

    /// By the list's key in JSON.
    static let kinds: [[UInt8]: PayloadList] = [
        Array("\"statistics\"".utf8): .statistics, Array("\"events\"".utf8): .events,
        Array("\"activities\"".utf8): .activities,
    ]

    /// The maximum number of elements. Whatever arrives, a payload must fit into a message.
    private static let limit = 4096

    /// What an element is about. Elements that don't say are the same only if their content is.
    func key(of element: PayloadValue) -> PayloadKey {
        switch self {
        case .statistics:
            if let type = element["type"]?.text { return PayloadKey(text: Array(type.utf8)) }
        case .events:
            if let type = element["type"]?.text, let second = second(element["date"]) {
                let duration = element["durationSeconds"]?.double.map { JSONNumber.text($0) } ?? ""
                return PayloadKey(second: second, text: Array("\(type) \(duration)".utf8))
            }
        case .activities:
            if let second = second(element["start"]) { return PayloadKey(second: second, text: []) }
        }
        var content: [UInt8] = []
        element.append(to: &content)
        return PayloadKey(second: .min, text: content)
    }

    private func second(_ date: JSONSpan?) -> Int64? {
        date?.text.flatMap { InstantText.parse($0) }?.flooredSecond
    }

    /// Joins two elements with the same key. The numbers of two statistics are joined only if they have the same unit;
    /// otherwise the statistic in the type's own unit counts.
    func joined(_ a: PayloadValue, _ b: PayloadValue) -> PayloadValue {
        guard self == .statistics else { return a.joined(b) }
        let (first, second) = (Unit(a), Unit(b))
        return first == second ? a.joined(b) : first < second ? b : a
    }

    /// The first elements in order, if there are too many; these are the same ones in whichever order they arrive.
    func limited(_ elements: [PayloadKey: PayloadValue]) -> [PayloadKey: PayloadValue] {
        guard elements.count > Self.limit else { return elements }
        let first = elements.sorted { $0.key < $1.key }.prefix(Self.limit)
        return Dictionary(uniqueKeysWithValues: first.map { ($0.key, $0.value) })
    }

    /// A statistic's unit. Without one, the numbers are in the type's own unit.
    private struct Unit: Comparable {
        var isOwn: Bool
        var text: [UInt8]

        init(_ statistic: PayloadValue) {
            let own = HealthType.known(statistic["type"]?.text ?? "")?.unit
            let unit = statistic["unit"]?.text ?? own ?? ""
            isOwn = unit == own
            text = Array(unit.utf8)
        }

        static func < (a: Unit, b: Unit) -> Bool {
            a.isOwn == b.isOwn ? a.text.lexicographicallyPrecedes(b.text) : b.isOwn
        }
    }
}

/// What an element of a list is about; keys are in order of time.
struct PayloadKey: Hashable, Comparable {
    /// Seconds since 1970.
    var second: Int64 = 0
    var text: [UInt8]

    static func < (a: PayloadKey, b: PayloadKey) -> Bool {
        a.second == b.second ? a.text.lexicographicallyPrecedes(b.text) : a.second < b.second
    }
}
