import Glibc

/// Finds the address of a broker that accepts connections, without blocking for long.
struct MQTTReach {
    private let address: MQTTAddress
    private let bell: Int32
    private let isCancelled: () -> Bool

    /// In seconds, for all of a name's addresses together.
    private static let patience = 10.0

    /// - Parameters:
    ///   - bell: a file descriptor that ends the wait when it becomes readable; -1 for none.
    ///   - isCancelled: called when the bell ends the wait; returns whether to give up.
    init(_ address: MQTTAddress, bell: Int32, isCancelled: @escaping () -> Bool) {
        (self.address, self.bell, self.isCancelled) = (address, bell, isCancelled)
    }

    /// - Returns: the first of the host's addresses that accepts a connection, in numeric form.
    /// - Throws: `MQTTError.connection`, with the reason for the last address, if none does.
    func firstThatAnswers() throws(MQTTError) -> String {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(address.host, "\(address.port)", &hints, &list)
        guard code == 0, let list else { throw .connection("\(address): \(String(cString: gai_strerror(code)))") }
        defer { freeaddrinfo(list) }
        let all = sequence(first: list, next: { $0.pointee.ai_next }).map { $0 }
        var why = "it has no address"
        for entry in all {
            guard let problem = try attempt(entry.pointee, seconds: Self.patience / Double(all.count)) else {
                return try digits(entry.pointee)
            }
            why = problem
        }
        throw .connection("\(address): \(why)")
    }

    /// - Returns: why the address doesn't accept a connection; nil if it does.
    private func attempt(_ entry: addrinfo, seconds: Double) throws(MQTTError) -> String? {
        let descriptor = socket(
            entry.ai_family, entry.ai_socktype | Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue),
            entry.ai_protocol)
        guard descriptor >= 0 else { return String(cString: strerror(errno)) }
        defer { close(descriptor) }
        if connect(descriptor, entry.ai_addr, entry.ai_addrlen) == 0 { return nil }
        guard errno == EINPROGRESS else { return String(cString: strerror(errno)) }
        let end = ContinuousClock.now + .seconds(seconds)
        let late = "no answer within \(Int(seconds.rounded(.up))) s"
        while true {
            let left = Int32(max(0, (end - .now) / .milliseconds(1)).rounded(.up))
            // A bell that is still readable ends each wait at once, whatever time is left.
            guard left > 0 else { return late }
            var entries = [
                pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0),
                pollfd(fd: bell, events: Int16(POLLIN), revents: 0),
            ]
            let ready = poll(&entries, 2, left)
            if ready < 0, errno == EINTR { continue }
            guard ready > 0 else { return late }
            if entries[0].revents != 0 { return problem(of: descriptor) }
            if isCancelled() { throw .connection("\(address): given up") }
        }
    }

    private func problem(of descriptor: Int32) -> String? {
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length) == 0 else {
            return String(cString: strerror(errno))
        }
        return code == 0 ? nil : String(cString: strerror(code))
    }

    private func digits(_ entry: addrinfo) throws(MQTTError) -> String {
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let code = getnameinfo(
            entry.ai_addr, entry.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
        guard code == 0 else { throw .connection("\(address): \(String(cString: gai_strerror(code)))") }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
