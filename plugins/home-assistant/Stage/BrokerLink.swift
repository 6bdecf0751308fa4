import HealthModel
import MQTT

/// The connection to the broker as the stage sees it, and how long something has been waiting for the broker to accept
/// it. Pure.
struct BrokerLink {
    private(set) var isOpen = false
    /// Why the broker can't be reached or doesn't keep the connection open; nil once it has accepted everything.
    private(set) var problem: MQTTError?
    private var opened: MonotonicTime?
    /// The last problem logged; forgotten once a connection has lasted.
    private var logged: MQTTError?
    private var stuckSince: MonotonicTime?

    /// If a connection has lasted this long, the broker didn't accept it only to drop it.
    static let lasting = Duration.seconds(60)
    static let alertAfter = Duration.seconds(15 * 60)

    mutating func open(at now: MonotonicTime) {
        isOpen = true
        opened = now
    }

    /// - Returns: whether that is news.
    mutating func lose(_ why: MQTTError, at now: MonotonicTime) -> Bool {
        if lasts(now) { (logged, stuckSince) = (nil, nil) }
        (isOpen, opened, problem) = (false, nil, why)
        defer { logged = why }
        return logged != why
    }

    private func lasts(_ now: MonotonicTime) -> Bool { opened.map { now - $0 >= Self.lasting } ?? false }

    /// Messages were acknowledged.
    mutating func progress(at now: MonotonicTime) { if lasts(now) { stuckSince = nil } }

    enum Watch: Equatable {
        /// Everything has been accepted, and this seems likely to last.
        case fine
        case waiting(until: MonotonicTime)
        /// Something has been waiting for so long that a person should know.
        case stuck
    }

    /// - Parameter isClean: whether the broker is connected and has accepted everything.
    mutating func watch(isClean: Bool, at now: MonotonicTime) -> Watch {
        if isClean { problem = nil }
        if isClean, lasts(now) || stuckSince == nil {
            stuckSince = nil
            if lasts(now) { logged = nil }
            return .fine
        }
        let since = stuckSince ?? now
        stuckSince = since
        if now - since >= Self.alertAfter { return .stuck }
        let lasting = isClean ? opened.map { $0 + Self.lasting } : nil
        return .waiting(until: min(since + Self.alertAfter, lasting ?? since + Self.alertAfter))
    }
}
