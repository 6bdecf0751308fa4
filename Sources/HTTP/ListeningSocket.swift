import Glibc

/// A bound, listening TCP socket. We create it ourselves, because libmicrohttpd doesn't say why it failed.
package struct ListeningSocket {
    let descriptor: Int32
    let port: Int

    /// Checks that it is currently possible to listen on an address.
    /// - Throws: `HTTPError` that says why not.
    package static func check(host: String, port: Int) throws(HTTPError) {
        close(try ListeningSocket(host: host, port: port).descriptor)
    }

    /// Listens on the first free port among the given number of ports, from `port` up. Port 0 takes any free port, so
    /// it is tried once.
    init(host: String, port: Int, tries: Int) throws(HTTPError) {
        let last = port == 0 ? 0 : min(port + min(max(tries, 1), 65_536) - 1, 65_535)
        for candidate in port..<max(port, last) {
            do throws(HTTPError) {
                self = try ListeningSocket(host: host, port: candidate)
                return
            } catch {
                guard error.kind == .addressInUse else { throw error }
            }
        }
        do throws(HTTPError) {
            self = try ListeningSocket(host: host, port: max(port, last))
        } catch {
            guard error.kind == .addressInUse, last > port else { throw error }
            throw HTTPError(
                .addressInUse, endpoint: "\(host):\(port)",
                detail: "this port and all others up to \(last) are in use by other processes",
                hint: "stop one of those (`ss -ltnp` names them) or choose another port; 0 takes any")
        }
    }

    init(host: String, port: Int) throws(HTTPError) {
        let endpoint = "\(host):\(port)"
        guard (0...65535).contains(port) else {
            throw HTTPError(
                .cannotListen, endpoint: endpoint, detail: "no such port", hint: "use a port from 0 to 65535")
        }
        var wanted = addrinfo()
        wanted.ai_flags = AI_PASSIVE | AI_NUMERICSERV
        wanted.ai_family = AF_UNSPEC
        wanted.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, String(port), &wanted, &found)
        guard code == 0, let address = found else {
            throw HTTPError(
                .cannotListen, endpoint: endpoint, detail: String(cString: gai_strerror(code)),
                hint: "use an address of this machine, such as 127.0.0.1")
        }
        defer { freeaddrinfo(found) }

        let descriptor = socket(
            address.pointee.ai_family,
            Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { throw Self.failure(errno, endpoint) }
        var yes: Int32 = 1
        // A restart must not have to wait for connections in TIME_WAIT; a second listener is still refused.
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        guard bind(descriptor, address.pointee.ai_addr, address.pointee.ai_addrlen) == 0, listen(descriptor, 64) == 0
        else {
            let cause = errno
            close(descriptor)
            throw Self.failure(cause, endpoint)
        }
        self.descriptor = descriptor
        self.port = Self.port(of: descriptor) ?? port
    }

    private static func port(of descriptor: Int32) -> Int? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard getsockname(descriptor, address, &length) == 0 else { return nil }
                // sin_port and sin6_port are at the same offset.
                return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                    Int(UInt16(bigEndian: $0.pointee.sin_port))
                }
            }
        }
    }

    private static func failure(_ code: Int32, _ endpoint: String) -> HTTPError {
        let detail = String(cString: strerror(code))
        switch code {
        case EADDRINUSE:
            return HTTPError(
                .addressInUse, endpoint: endpoint, detail: "the port is in use by another process",
                hint: "stop that one (`ss -ltnp` names it) or choose another port; 0 takes any")
        case EACCES:
            return HTTPError(
                .cannotListen, endpoint: endpoint, detail: detail,
                hint: "ports below 1024 need a privilege; choose a higher one")
        default:
            return HTTPError(
                .cannotListen, endpoint: endpoint, detail: detail,
                hint: "use an address of this machine, such as 127.0.0.1")
        }
    }
}
