import BackgroundDelivery
import Foundation
import StageKit
import TestSupport
import Testing

@Suite(.inTurn) struct PathWatcherTests {
    /// Describes interfaces in the way the kernel does under /sys/class/net.
    private func path(_ links: [String: [String: String]], over routes: [String]) throws -> NetworkPath {
        let folder = try TemporaryFolder()
        for (link, files) in links {
            for (name, text) in files {
                let file = "\(folder.path)/\(link)/\(name)"
                try FileManager.default.createDirectory(
                    atPath: (file as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
                try text.write(toFile: file, atomically: false, encoding: .utf8)
            }
        }
        return PathWatcher.path(over: routes, files: folder.path)
    }

    @Test func namesTheInterfaceOfTheFirstRouteThatIsUp() throws {
        let links = [
            "eth0": ["operstate": "down\n", "type": "1\n"], "wlan0": ["operstate": "up\n", "wireless/status": "0"],
            "wwan0": ["operstate": "unknown\n", "type": "65534\n"], "tun0": ["operstate": "unknown", "type": "65534"],
            "enp3s0": ["operstate": "up\n", "type": "1\n"],
        ]
        #expect(try path(links, over: ["eth0", "wlan0"]) == .init(isSatisfied: true, interface: .wifi))
        #expect(try path(links, over: ["enp3s0", "wlan0"]) == .init(isSatisfied: true, interface: .wired))
        #expect(try path(links, over: ["wwan0"]) == .init(isSatisfied: true, interface: .cellular))
        #expect(try path(links, over: ["tun0"]) == .init(isSatisfied: true, interface: .other))
    }

    @Test func withoutARouteThatLeadsOutThereIsNoPath() throws {
        let links = ["eth0": ["operstate": "down"], "lo": ["operstate": "unknown", "type": "772"]]
        let none = NetworkPath(isSatisfied: false, interface: nil)
        #expect(try path(links, over: []) == none)
        #expect(try path(links, over: ["eth0", "lo", "gone"]) == none)
    }

    @Test func reportsWhatHoldsAtOnce() throws {
        let reported = DispatchSemaphore(value: 0)
        let watcher = try PathWatcher { _ in
            reported.signal()
            return true
        }
        #expect(reported.wait(timeout: Patience.timeout) == .success)
        watcher.stop()
    }
}
