import CMicroHTTPD
import Synchronization

/// An answer without a fixed end: a stream of events for one reader, in the form that HTML's `EventSource` reads
/// (`text/event-stream`).
///
/// Any thread may send, and none ever waits: events that the reader hasn't taken yet are kept up to `capacity`, and
/// those that don't fit are dropped. An idle stream occupies no thread: its connection is suspended until there is
/// something to send.
package final class EventStream: Sendable, Equatable {
    /// `@unchecked Sendable`: libmicrohttpd's connection may be resumed from any thread; it is accessed only under the
    /// lock.
    private struct Connection: @unchecked Sendable { let handle: OpaquePointer }

    private struct State {
        var pending: [UInt8] = []
        /// How many of these bytes the reader has taken. They stay where they are, because removing each piece from the
        /// front would move all others.
        var taken = 0
        /// Set while the connection is suspended.
        var suspended: Connection?
        var isEnded = false
        /// Whether the reader is gone.
        var isClosed = false
        /// Called once the reader is gone.
        var whenClosed: (@Sendable () -> Void)?

        var waiting: Int { pending.count - taken }

        mutating func take(_ count: Int, into room: UnsafeMutableRawBufferPointer) {
            room.copyBytes(from: pending[taken..<taken + count])
            taken += count
            if waiting == 0 {
                pending.removeAll(keepingCapacity: pending.capacity <= EventStream.usualCapacity)
                taken = 0
            } else if taken >= pending.count / 2 {
                pending.removeFirst(taken)
                taken = 0
            }
        }
    }

    private let state = Mutex(State())
    private let capacity: Int

    /// - Parameter capacity: the maximum number of bytes that may wait for a slow reader.
    package init(capacity: Int = EventStream.usualCapacity) { self.capacity = capacity }

    package static let usualCapacity = 256 << 10

    package static func == (one: EventStream, other: EventStream) -> Bool { one === other }

    package var isOpen: Bool { state.withLock { !$0.isClosed && !$0.isEnded } }

    /// Calls `action` once the reader is gone; immediately if it already is.
    package func whenClosed(_ action: @escaping @Sendable () -> Void) {
        let isGone = state.withLock { state in
            if !state.isClosed { state.whenClosed = action }
            return state.isClosed
        }
        if isGone { action() }
    }

    /// - Parameter data: a single line, as all our JSON is.
    /// - Returns: false when the event was dropped because the reader is too slow or gone.
    @discardableResult
    package func send(_ event: StaticString, data: [UInt8]) -> Bool {
        let name = UnsafeBufferPointer(start: event.utf8Start, count: event.utf8CodeUnitCount)
        return append("event: ".utf8.count + name.count + "\ndata: \n\n".utf8.count + data.count) { text in
            text.append(contentsOf: "event: ".utf8)
            text.append(contentsOf: name)
            text.append(contentsOf: "\ndata: ".utf8)
            text.append(contentsOf: data)
            text.append(contentsOf: "\n\n".utf8)
        }
    }

    /// Only shows that the connection is alive, so that both sides notice when the other is gone. It is an event rather
    /// than a comment, because a browser doesn't pass comments on to its page.
    package func beat() { send("beat", data: []) }

    /// Sends an answer that had to wait, instead of events, in whatever form its headers state. `end` follows.
    /// - Returns: false when the answer was dropped because the reader is gone or the answer is larger than `capacity`.
    @discardableResult
    package func send(whole answer: [UInt8]) -> Bool { append(answer.count) { $0.append(contentsOf: answer) } }

    /// No more events follow; those already there are still sent.
    package func end() {
        state.withLock { state in
            state.isEnded = true
            Self.resume(&state)
        }
    }

    @discardableResult
    private func append(_ count: Int, _ write: (inout [UInt8]) -> Void) -> Bool {
        state.withLock { state in
            guard !state.isEnded, !state.isClosed, state.waiting + count <= capacity else { return false }
            write(&state.pending)
            Self.resume(&state)
            return true
        }
    }

    private static func resume(_ state: inout State) {
        guard let connection = state.suspended.take() else { return }
        MHD_resume_connection(connection.handle)
    }

    // MARK: libmicrohttpd's side

    static let ended = -1

    /// Copies bytes for the reader. Returns 0 and suspends the connection when there are none, and returns `ended` at
    /// the end.
    fileprivate func read(into room: UnsafeMutableRawBufferPointer, _ connection: OpaquePointer) -> Int {
        state.withLock { state in
            guard state.waiting > 0 else {
                if state.isEnded { return Self.ended }
                MHD_suspend_connection(connection)
                state.suspended = Connection(handle: connection)
                return 0
            }
            let count = min(state.waiting, room.count)
            state.take(count, into: room)
            return count
        }
    }

    /// The connection has ended, or it never took the stream.
    func close() {
        let action = state.withLock { state in
            state.suspended = nil
            state.isClosed = true
            (state.pending, state.taken) = ([], 0)
            return state.whenClosed.take()
        }
        action?()
    }
}

/// One stream on its connection, held by libmicrohttpd until the answer ends.
final class EventReader {
    private let stream: EventStream
    private let connection: OpaquePointer
    private let closed: () -> Void

    init(_ stream: EventStream, on connection: OpaquePointer, closed: @escaping () -> Void) {
        (self.stream, self.connection, self.closed) = (stream, connection, closed)
    }

    /// nil when there is no memory for it; its stream is closed then.
    static func response(_ stream: EventStream, on connection: OpaquePointer, closed: @escaping () -> Void)
        -> OpaquePointer?
    {
        let reader = Unmanaged.passRetained(EventReader(stream, on: connection, closed: closed))
        let response = MHD_create_response_from_callback(.max, blockBytes, read, reader.toOpaque(), free)
        if response == nil { reader.takeRetainedValue().close() }
        return response
    }

    /// How many bytes are requested at once; they must fit into a connection's buffer.
    private static let blockBytes = 8 << 10

    private func close() {
        stream.close()
        closed()
    }

    private static let read: MHD_ContentReaderCallback = { context, _, room, count in
        guard let context, let room else { return EventStream.ended }
        let reader = Unmanaged<EventReader>.fromOpaque(context).takeUnretainedValue()
        return reader.stream.read(into: UnsafeMutableRawBufferPointer(start: room, count: count), reader.connection)
    }

    private static let free: MHD_ContentReaderFreeCallback = { context in
        guard let context else { return }
        Unmanaged<EventReader>.fromOpaque(context).takeRetainedValue().close()
    }
}
