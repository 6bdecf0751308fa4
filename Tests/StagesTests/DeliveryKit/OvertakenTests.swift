import DeliveryKit
import HealthModel
import TestSupport
import Testing
import UploaderStage

/// Elements that aren't sent, because the destination has already accepted newer ones and has no rule for versions.
@Suite struct OvertakenTests {
    private static let overtaken = DeliveryReply.overtaken(.init(counts: .init(known: 1), overtaken: [0]))

    @Test func theyAreSettled() throws {
        let rig = try UploaderRig()
        try rig.add(1...1)
        try rig.rig.reply(rig.request().effect, Self.overtaken)
        #expect(try rig.frontier() == 1 && rig.uploads.isEmpty)
        #expect(try rig.detail("answers")["known"] == 1)
    }

    /// If a server refuses everything for a while, an element that was never sent to it doesn't become a dead letter.
    @Test func theyAreNoEvidence() throws {
        let rig = try UploaderRig()
        try rig.add(1...1)
        try rig.serve()
        try rig.add(2...2)
        for _ in 0..<5 {
            for _ in 0..<50 {
                guard let effect = rig.uploads.first else { break }
                let part = try rig.request().request.part
                // An empty request only asks whether the server answers, and here nobody does.
                let isProbe = try part.isEmpty || rig.dates(rig.request().request) == [UploaderRig.date(1)]
                let reply: DeliveryReply =
                    part.isEmpty
                    ? .unproven("nobody answered")
                    : isProbe ? Self.overtaken : .failed(.init(.refused("refused"), why: "refused", status: 422))
                try rig.rig.reply(effect, reply)
            }
            try rig.rig.pass(.seconds(8))
        }
        #expect(try rig.letters().isEmpty && rig.detail("held") == 1 && rig.frontier() == 1)
    }

    /// If some of a request's elements were left out, only those that were sent are evidence, and can be sent again to
    /// find out more.
    @Test func aProbeIsSomethingThatWasSent() throws {
        let rig = try UploaderRig()
        try rig.add(1...2)
        try rig.rig.reply(
            rig.request().effect,
            DeliveryReply.onTrust(.init(counts: .init(created: 1, known: 1), status: 200, overtaken: [0])))
        try rig.add(3...3)
        try rig.rig.reply(
            rig.request().effect, DeliveryReply.failed(.init(.refused("refused"), why: "refused", status: 422)))
        #expect(try rig.dates(rig.request().request) == [UploaderRig.date(2)])
    }
}
