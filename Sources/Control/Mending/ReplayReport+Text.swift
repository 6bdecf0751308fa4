import Logging
import Protocol
import Terminal

extension ReplayReport {
    /// The maximum number of dates that a sentence lists.
    private static let named = 5

    /// Says which days couldn't be computed; nil if all could be. Their old figures, if any, remain.
    package var failure: Failure? {
        guard let failed, let first = failed.first else { return nil }
        let count = max(failedDays.map { Int($0) } ?? 0, failed.count)
        let hint = "'healthbus doctor' says why"
        guard count > 1 else { return Failure("\(first) couldn't be computed", hint: hint) }
        let names = failed.prefix(Self.named)
        let rest = count - names.count
        return Failure(
            "\(HumanFormat.count(count, "day")) couldn't be computed: \(names.joined(separator: ", "))"
                + (rest > 0 ? " and \(HumanFormat.count(rest)) more" : ""),
            hint: hint)
    }
}
