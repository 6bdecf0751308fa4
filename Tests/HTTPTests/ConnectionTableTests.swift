import HTTP
import Testing

/// Tests which connection is closed, when, and for which new one. There are no sockets, and the clock is the test's
/// own.
struct ConnectionTableTests {
    private func table(connections: Int = 4, perAddress: Int = 3) -> ConnectionTable {
        var limits = HTTPServer.Limits()
        limits.connections = connections
        limits.connectionsPerAddress = perAddress
        limits.headSeconds = 10
        limits.idleSeconds = 30
        limits.requestSeconds = 120
        limits.answerSeconds = 60
        return ConnectionTable(limits: limits)
    }

    @Test func eachPhaseHasItsTime() {
        var table = table()
        #expect(table.nextDeadline == nil)
        #expect(table.opened(5, peer: 1, at: 100) == nil)
        #expect(table.nextDeadline == 110 && table.overdue(at: 109.9) == [])
        table.enters(.receiving, 5, at: 105)
        #expect(table.nextDeadline == 225)
        table.enters(.handling, 5, at: 106)
        #expect(table.nextDeadline == nil && table.overdue(at: 1e9) == [])
        table.enters(.answering, 5, at: 200)
        #expect(table.nextDeadline == 260)
        // The connection has been served: now it may wait longer, but a request head that trickles in gets no more time
        // than before.
        table.enters(.waiting, 5, at: 201)
        #expect(table.nextDeadline == 231)
        #expect(table.overdue(at: 231) == [5])
        // The connection is asked once to close. Its place is then free, but its number stays taken until it is closed.
        #expect(table.overdue(at: 300) == [] && table.count == 0 && table.nextDeadline == nil)
        table.closed(5)
        #expect(table.opened(5, peer: 1, at: 400) == nil && table.nextDeadline == 410)
    }

    @Test func theOldestStrangerGoes() {
        var table = table(perAddress: 4)
        for socket in 1...4 as ClosedRange<Int32> { #expect(table.opened(socket, peer: 1, at: Double(socket)) == nil) }
        // The oldest connection has shown its token, the next is being handled, and the third is sending a body without
        // having shown a token.
        table.trust(1)
        table.enters(.waiting, 1, at: 5)
        table.enters(.handling, 2, at: 5)
        table.enters(.receiving, 3, at: 5)
        #expect(table.opened(9, peer: 2, at: 6) == 3)
        #expect(table.opened(10, peer: 2, at: 7) == 4)
        #expect(table.opened(11, peer: 2, at: 8) == 9)
        #expect(table.count == 4)
    }

    @Test func whoHasTheTokenAndOnlyWaitsGoesNext() {
        var table = table(connections: 2, perAddress: 2)
        for socket in 1...2 as ClosedRange<Int32> {
            #expect(table.opened(socket, peer: 1, at: 0) == nil)
            table.trust(socket)
        }
        table.enters(.receiving, 1, at: 1)
        #expect(table.opened(3, peer: 2, at: 2) == 2)
        // If all connections are busy, the new one is closed.
        table.trust(3)
        table.enters(.answering, 3, at: 3)
        #expect(table.opened(4, peer: 3, at: 4) == 4)
        #expect(table.count == 2)
    }

    @Test func oneAddressTakesNobodyElsesPlace() {
        var table = table()
        for socket in 1...3 as ClosedRange<Int32> { #expect(table.opened(socket, peer: 1, at: 0) == nil) }
        #expect(table.opened(4, peer: 2, at: 1) == nil)
        // If an address has reached its limit, its own oldest connection is closed, even if another address has one
        // that is merely waiting.
        #expect(table.opened(5, peer: 1, at: 2) == 1)
        #expect(table.opened(6, peer: 1, at: 3) == 2)
    }
}
