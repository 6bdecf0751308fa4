import Configuration
import Foundation
import HealthModel
import Synchronization
import TestSupport
import Testing

@Suite struct SignInTicketsTests {
    private static let start = Instant(seconds: 1_743_328_800)

    private let folder: TemporaryFolder
    private let tickets: SignInTickets

    init() throws {
        folder = try TemporaryFolder()
        tickets = SignInTickets(StateFolder(path: folder.path + "/state"))
    }

    private var files: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path + "/state/secrets/sign-in") }
    }

    @Test func aTicketCountsOnceWithinAMinute() throws {
        let used = try tickets.make(now: Self.start)
        #expect(tickets.redeem(used, now: Self.start + .seconds(59)))
        #expect(!tickets.redeem(used, now: Self.start + .seconds(59)))
        let over = try tickets.make(now: Self.start)
        #expect(!tickets.redeem(over, now: Self.start + .seconds(60)))
        // Neither after the clock was set back: it is gone.
        #expect(!tickets.redeem(over, now: Self.start))
        let later = try tickets.make(now: Self.start)
        #expect(!tickets.redeem(later, now: Self.start + .seconds(-1)))
        #expect(try files.isEmpty)
    }

    @Test func ofManyAtOnceOneGetsIn() throws {
        let ticket = try tickets.make(now: Self.start)
        let count = Mutex(0)
        DispatchQueue.concurrentPerform(iterations: 32) { _ in
            if tickets.redeem(ticket, now: Self.start) { count.withLock { $0 += 1 } }
        }
        #expect(count.withLock { $0 } == 1)
    }

    @Test func onlyItsOwnerReadsItAndTheTextIsntKept() throws {
        let ticket = try tickets.make(now: Self.start)
        let name = try #require(try files.first)
        let path = folder.path + "/state/secrets/sign-in"
        #expect(try files.count == 1 && !name.contains(ticket))
        #expect(try !String(contentsOfFile: path + "/" + name, encoding: .utf8).contains(ticket))
        for (path, mode) in [(path, 0o700), (path + "/" + name, 0o600)] {
            #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == mode)
        }
        // The name of the file isn't a ticket.
        #expect(!tickets.redeem(name, now: Self.start))
        #expect(tickets.redeem(ticket, now: Self.start))
    }

    @Test(arguments: ["", "x", "../tokens.json", "hbt_", "hbt_" + String(repeating: "A", count: 43)])
    func nothingElseCounts(_ text: String) throws {
        #expect(!tickets.redeem(text, now: Self.start))
        _ = try tickets.make(now: Self.start)
        #expect(!tickets.redeem(text, now: Self.start))
    }

    @Test func theNextRemovesThoseThatAreOver() throws {
        for _ in 0..<5 { _ = try tickets.make(now: Self.start) }
        let newer = try tickets.make(now: Self.start + .seconds(59))
        #expect(try files.count == 6)
        _ = try tickets.make(now: Self.start + .seconds(61))
        #expect(try files.count == 2)
        #expect(tickets.redeem(newer, now: Self.start + .seconds(61)))
    }
}
