import DashboardStage
import HealthModel
import Protocol
import TestSupport
import Testing

@Suite struct ChangesCursorTests {
    private let head = StoreHead(store: "s", generation: "g", sequence: 100)

    private func cursor(_ sequence: SequenceNumber, generation: String = "g") -> ChangesCursor {
        let head = StoreHead(store: "s", generation: generation, sequence: sequence)
        return ChangesCursor(head, at: sequence, user: "anna")
    }

    @Test func itIsReadAsItWasWritten() {
        #expect(ChangesCursor(cursor(7).text) == cursor(7))
        var head = head
        head.incarnation = "i"
        let place = ChangesCursor(ChangesCursor(head, at: 7, user: "anna").text)?.place(in: head)
        #expect(place?.incarnation == "i" && place?.after == AnchorVector(base: 7))
        for text in ["", "x", "g.1", "g.-1.x", ".1.x", "g.one.x", "g.1.x.y.z"] { #expect(ChangesCursor(text) == nil) }
    }

    @Test func itIsOfOneHistoryAndOnePerson() {
        #expect(cursor(100).isKnown(to: head, user: "anna"))
        #expect(!cursor(101).isKnown(to: head, user: "anna"))
        #expect(!cursor(100).isKnown(to: head, user: "bob"))
        #expect(!cursor(100, generation: "h").isKnown(to: head, user: "anna"))
    }

    /// If the store were asked for changes after a position that it hasn't reached, it would conclude that it has lost
    /// rows.
    @Test func nothingBeyondTheHeadIsAskedFor() throws {
        for sequence: SequenceNumber in [0, 99, 100] {
            #expect(cursor(sequence).place(in: head) == PullPlace(of: head, after: sequence))
        }
        let madeUp = try #require(ChangesCursor("g.9223372036854775807.x"))
        #expect(madeUp.place(in: head) == PullPlace(of: head, after: 100))
        #expect(cursor(5, generation: "h").place(in: head) == nil)
    }
}
