import HealthModel

/// A day's doses of medications. What a person did about a dose is in its payload, and only a dose that was taken is one.
public enum DosesDay {
    /// The type of doses, whose payloads have to be read.
    public static let type = HealthType.medicationDoseIdentifier

    /// `count` of the doses that were taken; the others by what happened to them, under HealthKit's word (`skipped`,
    /// `snoozed`, `notInteracted`, `notificationNotSent`, `notLogged`) or `unknown`. Dosages aren't added up, since they
    /// belong to different medications.
    /// - Parameter rows: the doses that start on the day.
    /// - Returns: nil if there are none.
    public static func figure(_ rows: [Int], of samples: SamplePage) -> [String: Value]? {
        guard !rows.isEmpty else { return nil }
        var counts: [String: Int] = ["count": 0]
        for row in rows {
            let status = DoseStatus(payload: samples.payloadValue(row))
            counts[status == .taken ? "count" : status?.rawValue ?? "unknown", default: 0] += 1
        }
        return counts.mapValues { Value($0) }
    }
}
