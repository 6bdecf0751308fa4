/// Who is connected, what each connection is doing and since when, and which ones have to close. Pure: sockets are
/// numbers here, and the clock is passed in.
///
/// A server can be kept busy without a single complete request: by connections that never finish a head, that trickle a
/// body, or that don't read their answer. So each phase but `handling` has a time limit, and while all places are
/// taken, a connection that hasn't been let in gives way to a new one; if all have been, one that is waiting does.
package struct ConnectionTable {
    package enum Phase: Sendable {
        /// Waiting for a first or a further request: nothing has arrived except perhaps an incomplete head.
        case waiting
        /// A body is arriving.
        case receiving
        /// A body is arriving that isn't kept in memory and may be long.
        case streaming
        /// The handler is working; however long that takes, it isn't the client's fault.
        case handling
        /// The answer is being sent.
        case answering
    }

    private struct Connection {
        var peer: UInt64
        var order: UInt64
        var phase = Phase.waiting
        /// When the phase began.
        var since: Double
        /// Whether the connection has been sent an answer.
        var isServed = false
        /// Whether the connection has sent a request that the gate let in.
        var isTrusted = false
        /// Whether the connection was asked to close, which frees its place.
        var isLeaving = false
    }

    private let limits: HTTPServer.Limits
    private var connections: [Int32: Connection] = [:]
    private var last: UInt64 = 0

    package init(limits: HTTPServer.Limits) { self.limits = limits }

    /// How many connections occupy a slot.
    package var count: Int { connections.count { !$0.value.isLeaving } }

    /// A new connection.
    /// - Returns: the connection that has to make way for the new one, if any; possibly the new one itself.
    package mutating func opened(_ socket: Int32, peer: UInt64, at now: Double) -> Int32? {
        last += 1
        connections[socket] = Connection(peer: peer, order: last, since: now)
        let neighbours = connections.count { $0.value.peer == peer && !$0.value.isLeaving }
        let victim: Int32?
        if neighbours > limits.connectionsPerAddress {
            victim = self.victim(for: socket) { $0.peer == peer }
        } else if count > limits.connections {
            victim = self.victim(for: socket) { _ in true }
        } else {
            return nil
        }
        let leaving = victim ?? socket
        connections[leaving]?.isLeaving = true
        return leaving
    }

    /// The oldest connection with nothing in progress. Connections that haven't been let in come first, even in the
    /// middle of a body.
    private func victim(for new: Int32, among isMeant: (Connection) -> Bool) -> Int32? {
        let candidates = connections.filter { $0.key != new && !$0.value.isLeaving && isMeant($0.value) }
        let strangers = candidates.filter {
            !$0.value.isTrusted && ($0.value.phase == .waiting || $0.value.phase == .receiving)
        }
        let idle = candidates.filter { $0.value.isTrusted && $0.value.phase == .waiting }
        return (strangers.isEmpty ? idle : strangers).min { $0.value.order < $1.value.order }?.key
    }

    package mutating func enters(_ phase: Phase, _ socket: Int32, at now: Double) {
        guard var connection = connections[socket] else { return }
        if phase == .waiting { connection.isServed = true }
        connection.phase = phase
        connection.since = now
        connections[socket] = connection
    }

    package mutating func trust(_ socket: Int32) { connections[socket]?.isTrusted = true }

    package mutating func closed(_ socket: Int32) { connections[socket] = nil }

    /// The connections whose time is up.
    package mutating func overdue(at now: Double) -> [Int32] {
        let sockets = connections.filter { !$0.value.isLeaving && (deadline($0.value) ?? .infinity) <= now }.map(\.key)
        for socket in sockets { connections[socket]?.isLeaving = true }
        return sockets
    }

    /// When the next connection's time is up; nil when no limit applies.
    package var nextDeadline: Double? {
        connections.lazy.filter { !$0.value.isLeaving }.compactMap { deadline($0.value) }.min()
    }

    private func deadline(_ connection: Connection) -> Double? {
        switch connection.phase {
        case .waiting:
            connection.since + Double(connection.isServed ? limits.idleSeconds : limits.headSeconds)
        case .receiving: connection.since + Double(limits.requestSeconds)
        case .streaming: connection.since + Double(limits.streamSeconds)
        case .handling: nil
        case .answering: connection.since + Double(limits.answerSeconds)
        }
    }
}
