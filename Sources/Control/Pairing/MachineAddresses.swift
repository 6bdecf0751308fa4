import Glibc

/// This machine's addresses on its networks.
enum MachineAddresses {
    /// IPv4 addresses, as strings. The addresses of bridges for containers and virtual machines come last, since no
    /// phone is on such a network.
    static func current() -> [String] {
        var list: UnsafeMutablePointer<ifaddrs>?
        // If there is no list, a person must name the address, and the command says so.
        guard getifaddrs(&list) == 0 else { return [] }
        defer { freeifaddrs(list) }
        var found: [(isBridge: Bool, address: String)] = []
        for entry in sequence(first: list, next: { $0?.pointee.ifa_next }) {
            guard let link = entry?.pointee, let address = link.ifa_addr, Int32(address.pointee.sa_family) == AF_INET,
                link.ifa_flags & up != 0, link.ifa_flags & loopback == 0
            else { continue }
            var host = [CChar](repeating: 0, count: 64)
            guard
                getnameinfo(
                    address, socklen_t(MemoryLayout<sockaddr_in>.size), &host, socklen_t(host.count), nil, 0,
                    NI_NUMERICHOST) == 0
            else { continue }
            let name = String(cString: link.ifa_name)
            let text = String(decoding: host.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            found.append((bridges.contains { name.hasPrefix($0) }, text))
        }
        return (found.filter { !$0.isBridge } + found.filter(\.isBridge)).map(\.address)
    }

    private static let bridges = ["docker", "br-", "veth", "virbr", "podman", "cni"]
    private static let up = UInt32(IFF_UP)
    private static let loopback = UInt32(IFF_LOOPBACK)
}
