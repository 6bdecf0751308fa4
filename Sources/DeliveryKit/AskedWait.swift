import HealthModel

/// How long a destination asks to be left alone.
package enum AskedWait: Sendable, Equatable {
    case seconds(Double)
    case until(Instant)

    /// Seconds to wait from `now`, 0 or more.
    package func seconds(from now: Instant) -> Double {
        switch self {
        case .seconds(let seconds): seconds
        case .until(let date): max(0, (date - now).seconds)
        }
    }

    /// How a wait is reported to a person: the time that was requested and, if that is too long, when the next attempt
    /// is made anyway. Appended to the reason; empty for a short wait that nobody requested.
    /// - Parameters:
    ///   - own: how many seconds pass before the next attempt if nothing was requested; nil if that isn't known.
    ///   - longest: the longest wait: a server whose clock is wrong, or that misjudges us, must not stop deliveries for
    ///     good.
    static func text(asked: Double?, own: Double? = nil, now: Instant, longest: Double) -> String {
        guard let asked else {
            // A shorter wait is over before anybody has read about it.
            guard let own, own >= leastShown else { return "" }
            return "; next try at \(InstantText.local(now + .microseconds(Int64(own * 1e6)), now: now))"
        }
        // No clock can show a time later than this.
        let until = asked < 250_000_000_000 ? now + .microseconds(Int64(asked * 1e6)) : .distantFuture
        let text =
            until < lastShown
            ? "; it asked to wait until \(InstantText.local(until, now: now))" : "; it asked to wait forever"
        guard asked > longest else { return text }
        let again = now + .microseconds(Int64(longest * 1e6))
        // If only one of the two times had a date, the other would seem to be on the same day.
        let isDated = until < lastShown && InstantText.local(until, now: now).contains(" ")
        let next = InstantText.local(again, now: isDated ? until : now)
        return text + ", but is tried again at \(next) ('retryAfterCapSeconds')"
    }

    private static let leastShown = 5.0
    /// The year 9000.
    private static let lastShown = Instant(seconds: 221_845_392_000)
}
