import BackgroundDelivery
import CPosix
import Client
import Foundation
import Glibc
import HealthModel

/// Reports whether this machine has network access, at once and whenever that changes. It is the counterpart of
/// `NWPathMonitor`.
///
/// The kernel's notifications are only hints: each prompts a check of the current state. Is there a route that leads
/// somewhere, over a link that is up? A default route isn't required: a backend on the same network can be reached
/// without one, and waiting needlessly would be worse than a failed attempt.
package final class PathWatcher: Sendable {
    private let watch: Int32

    /// - Parameter changed: called on its own thread, first with the current state; returns false to end the watch.
    /// - Throws: `PathError` when the kernel's notifications aren't available.
    package init(changed: @escaping @Sendable (NetworkPath) -> Bool) throws {
        let watch = healthbus_route_watch()
        guard watch >= 0 else { throw PathError(code: -watch) }
        self.watch = watch
        Thread.begin("path", stackSize: 512 << 10) {
            defer { close(watch) }
            var last: NetworkPath?
            repeat {
                // If the state can't be read now, it is read again at the next notification; until then, the last known
                // state applies.
                guard let path = try? Self.current(), path != last else { continue }
                last = path
                guard changed(path) else { return }
            } while healthbus_route_wait(watch) == 0
        }
    }

    package func stop() { healthbus_route_end(watch) }

    /// The current state.
    package static func current() throws -> NetworkPath {
        var links = [UInt32](repeating: 0, count: 64)
        let count = healthbus_route_links(&links)
        guard count >= 0 else { throw PathError(code: -count) }
        return path(
            over: links.prefix(Int(count)).compactMap { link in
                var name = [CChar](repeating: 0, count: 16)
                guard healthbus_link_name(link, &name) == 0 else { return nil }
                return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            })
    }

    /// - Parameters:
    ///   - links: names of the interfaces used by routes, with those of default routes first.
    ///   - files: the folder in which the kernel describes interfaces.
    package static func path(over links: [String], files: String = "/sys/class/net") -> NetworkPath {
        for link in links where link != "lo" && isUp(link, files) {
            return NetworkPath(isSatisfied: true, interface: interface(link, files))
        }
        return NetworkPath(isSatisfied: false, interface: nil)
    }

    private static func isUp(_ link: String, _ files: String) -> Bool {
        // Tunnels and container bridges report "unknown", because they have no carrier to lose.
        ["up", "unknown"].contains(TextFile.text("\(files)/\(link)/operstate"))
    }

    private static func interface(_ link: String, _ files: String) -> NetworkPath.Interface {
        let exists = { (name: String) in FileManager.default.fileExists(atPath: "\(files)/\(link)/\(name)") }
        if exists("wireless") || exists("phy80211") { return .wifi }
        let events = TextFile.text("\(files)/\(link)/uevent") ?? ""
        if link.hasPrefix("wwan") || events.contains("DEVTYPE=wwan") { return .cellular }
        switch TextFile.text("\(files)/\(link)/type") {
        // ARPHRD_ETHER, ARPHRD_LOOPBACK.
        case "1": return .wired
        case "772": return .loopback
        default: return .other
        }
    }
}

/// The kernel gave no information about routes.
package struct PathError: Error, CustomStringConvertible {
    package var code: Int32

    package var description: String {
        "the kernel doesn't report network routes (\(String(cString: strerror(code)))); is netlink forbidden here?"
    }
}
