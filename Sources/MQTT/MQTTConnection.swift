import CMosquitto
import Foundation
import Glibc

/// One connection to one broker, with MQTT 3.1.1 and a clean session.
///
/// Nothing happens in the background: `wait` polls the socket and lets the library read and write. Not thread-safe, by
/// design: a connection stays on its owner's thread.
package final class MQTTConnection {
    package struct Options: Sendable {
        package var address: MQTTAddress
        /// The broker closes an older connection with the same name, and publishes its last will.
        package var client: String
        package var user: String?
        package var password: String?
        /// A PEM file of the authorities to trust; nil for the machine's own.
        package var authorityFile: String?
        /// The retained message that the broker publishes if the connection ends without a goodbye.
        package var will: (topic: String, payload: String)

        package init(
            address: MQTTAddress, client: String, user: String?, password: String?, authorityFile: String?,
            will: (topic: String, payload: String)
        ) {
            (self.address, self.client, self.user, self.password) = (address, client, user, password)
            (self.authorityFile, self.will) = (authorityFile, will)
        }
    }

    package enum Event: Sendable, Equatable {
        /// The broker has accepted the connection.
        case connected
        /// Nothing more comes from this connection.
        case ended(MQTTError)
        /// The broker has received the message with this number.
        case acknowledged(Int32)
        /// The broker has answered a subscription. The messages that it has retained for the subscription follow, or
        /// have already come.
        case subscribed
        /// - Parameter payload: at most its first `longest` bytes.
        case message(topic: String, payload: [UInt8], isRetained: Bool)
    }

    /// No more than this many bytes of another program's message are kept.
    package static let longest = 65_536
    /// How many packets are read in one `wait`.
    private static let packets = 256

    /// Collects the events that the library's callbacks add; they run on the owner's thread, in `wait`.
    fileprivate final class Inbox {
        var events: [Event] = []
    }

    private static let keepAlive: Int32 = 60
    private static let library = mosquitto_lib_init()

    private let handle: OpaquePointer
    private let inbox: Inbox
    private let address: MQTTAddress

    /// Connects, within 10 s plus the time needed to look up the host's addresses; the broker's answer comes as an
    /// event.
    /// - Parameters:
    ///   - bell: a file descriptor that ends the wait when it becomes readable; -1 for none.
    ///   - isCancelled: called when the bell ends the wait; returns whether to give up. The function must read the
    ///     bell; otherwise it is called again and again until the time is over.
    /// - Throws: `MQTTError`.
    package init(_ options: Options, bell: Int32 = -1, isCancelled: @escaping () -> Bool = { false }) throws(MQTTError)
    {
        guard Self.library == healthbus_mosquitto_success else {
            throw .connection("libmosquitto can't be used on this machine")
        }
        let inbox = Inbox()
        let context = Unmanaged.passUnretained(inbox).toOpaque()
        guard let handle = mosquitto_new(options.client, true, context) else {
            throw .connection("there is no memory for a connection")
        }
        (self.handle, self.inbox) = (handle, inbox)
        address = options.address
        // If anything below throws, `deinit` frees the handle, since all members are set by now.
        setCallbacks()
        let will = Array(options.will.payload.utf8)
        try check(mosquitto_will_set(handle, options.will.topic, Int32(will.count), will, 1, true))
        if let user = options.user { try check(mosquitto_username_pw_set(handle, user, options.password)) }
        if options.address.usesTLS { try useTLS(options.authorityFile) }
        // The library's own attempt blocks for minutes when packets are dropped. For TLS, the library needs the host's
        // name, and it tries all of the host's addresses again, in the same order.
        let numeric = try MQTTReach(address, bell: bell, isCancelled: isCancelled).firstThatAnswers()
        let host = address.usesTLS ? address.host : numeric
        try check(mosquitto_connect(handle, host, Int32(address.port), Self.keepAlive))
    }

    deinit { mosquitto_destroy(handle) }

    private func useTLS(_ file: String?) throws(MQTTError) {
        guard let file else { return try check(healthbus_mosquitto_use_system_authorities(handle)) }
        guard FileManager.default.isReadableFile(atPath: file) else {
            throw .tls("the file of authorities can't be read: \(file)")
        }
        guard mosquitto_tls_set(handle, file, nil, nil, nil, nil) == healthbus_mosquitto_success else {
            throw .tls("the file of authorities can't be used: \(file)")
        }
    }

    private func setCallbacks() {
        mosquitto_connect_callback_set(handle) { _, context, code in
            guard let inbox = MQTTConnection.inbox(context) else { return }
            guard code != 0 else { return inbox.events.append(.connected) }
            inbox.events.append(.ended(.refused(code, String(cString: mosquitto_connack_string(code)))))
        }
        mosquitto_publish_callback_set(handle) { _, context, number in
            MQTTConnection.inbox(context)?.events.append(.acknowledged(number))
        }
        mosquitto_subscribe_callback_set(handle) { _, context, _, _, _ in
            MQTTConnection.inbox(context)?.events.append(.subscribed)
        }
        mosquitto_message_callback_set(handle) { _, context, message in
            guard let message = message?.pointee, let topic = message.topic else { return }
            var payload: [UInt8] = []
            if let bytes = message.payload, message.payloadlen > 0 {
                let count = min(Int(message.payloadlen), MQTTConnection.longest)
                payload = Array(UnsafeRawBufferPointer(start: bytes, count: count))
            }
            MQTTConnection.inbox(context)?.events.append(
                .message(topic: String(cString: topic), payload: payload, isRetained: message.retain))
        }
    }

    private static func inbox(_ context: UnsafeMutableRawPointer?) -> Inbox? {
        context.map { Unmanaged<Inbox>.fromOpaque($0).takeUnretainedValue() }
    }

    // MARK: Sending

    /// Publishes a retained message at QoS 1; an empty payload removes the message retained on that topic.
    /// - Returns: the message's number, for `Event.acknowledged`.
    package func publish(_ topic: String, _ payload: String) throws(MQTTError) -> Int32 {
        var number: Int32 = 0
        let bytes = Array(payload.utf8)
        try check(mosquitto_publish(handle, &number, topic, Int32(bytes.count), bytes, 1, true))
        return number
    }

    package func subscribe(_ filter: String) throws(MQTTError) {
        try check(mosquitto_subscribe(handle, nil, filter, 1))
    }

    /// Says goodbye, so that the broker doesn't publish the last will.
    package func disconnect() { mosquitto_disconnect(handle) }

    // MARK: Waiting

    /// Waits until something has arrived, `bell` can be read, or the time has passed, and returns what happened.
    package func wait(bell: Int32, milliseconds: Int32) -> [Event] {
        let socket = mosquitto_socket(handle)
        guard socket >= 0 else { return [.ended(.connection("\(address): the connection is gone"))] }
        let writes = mosquitto_want_write(handle)
        var entries = [
            pollfd(fd: socket, events: Int16(writes ? POLLIN | POLLOUT : POLLIN), revents: 0),
            pollfd(fd: bell, events: Int16(POLLIN), revents: 0),
        ]
        var ready = poll(&entries, 2, milliseconds)
        var code = healthbus_mosquitto_success
        var packets = 0
        while ready > 0, code == healthbus_mosquitto_success, packets < Self.packets {
            packets += 1
            let found = Int32(entries[0].revents)
            if found & Int32(POLLIN | POLLHUP | POLLERR) != 0 { code = mosquitto_loop_read(handle, 1) }
            if code == healthbus_mosquitto_success, found & Int32(POLLOUT) != 0 {
                code = mosquitto_loop_write(handle, 1)
            }
            // Also takes whatever else has already arrived, so that many messages don't need many calls.
            guard found & Int32(POLLIN) != 0, mosquitto_socket(handle) == socket else { break }
            entries[0].events = Int16(POLLIN)
            ready = poll(&entries, 1, 0)
        }
        if code == healthbus_mosquitto_success { code = mosquitto_loop_misc(handle) }
        var events = inbox.events
        inbox.events = []
        let hasEnded = events.contains { if case .ended = $0 { true } else { false } }
        if code != healthbus_mosquitto_success, !hasEnded { events.append(.ended(problem(code))) }
        return events
    }

    private func check(_ code: Int32) throws(MQTTError) {
        guard code == healthbus_mosquitto_success else { throw problem(code) }
    }

    private func problem(_ code: Int32) -> MQTTError {
        if code == healthbus_mosquitto_errno { return .connection("\(address): \(String(cString: strerror(errno)))") }
        if code == healthbus_mosquitto_tls {
            return .tls(
                "\(address): no TLS connection; is its certificate valid for this name, and signed by an authority in "
                    + "'caFile'?")
        }
        return .connection("\(address): \(String(cString: mosquitto_strerror(code)))")
    }
}
