import HealthModel

/// Decides when summaries are read. They are read at once while somebody is looking, otherwise seldom, since an import
/// changes each day several times and nobody sees that. Pure.
package struct ReadingPace: Sendable {
    /// How long changes may wait while nobody is looking.
    package static let unwatched = Duration.seconds(30)
    /// They are read at least this often, because the message that announced a change may have been lost.
    package static let regular = Duration.seconds(60)
    package static let retry = Duration.seconds(2)

    private var newSince: MonotonicTime?
    private var readAt: MonotonicTime?
    package private(set) var isFailing = false
    /// Whether a read has failed and the consolidator hasn't been heard from since: nobody should wait for it.
    package private(set) var isSilent = false

    package init() {}

    package mutating func heard(at now: MonotonicTime) { newSince = newSince ?? now }

    /// - Returns: when the first unread change was announced, to be passed to `failed`.
    package mutating func begin() -> MonotonicTime? {
        defer { newSince = nil }
        return newSince
    }

    package mutating func read(at now: MonotonicTime) { (readAt, isFailing, isSilent) = (now, false, false) }

    package mutating func failed(at now: MonotonicTime, newSince since: MonotonicTime?) {
        (isFailing, isSilent) = (true, true)
        readAt = now
        newSince = newSince ?? since ?? now
    }

    /// The consolidator is heard again: what couldn't be read is read at once.
    package mutating func back() { isSilent = false }

    /// The time until the next read; zero: now.
    package func wait(isWatched: Bool, at now: MonotonicTime) -> Duration {
        guard let readAt else { return .zero }
        let regular = Self.regular - (now - readAt)
        guard let newSince else { return max(.zero, regular) }
        if isFailing, !isSilent { return .zero }
        if isFailing { return max(.zero, Self.retry - (now - readAt)) }
        return isWatched ? .zero : max(.zero, min(regular, Self.unwatched - (now - newSince)))
    }
}
