import Changelog
import DeliveryKit
import HealthModel
import Protocol
import TestSupport
import Testing

/// Elements that a destination already has in the same version, but with different content.
@Suite struct DeliveryConflictTests {
    private func listed(_ uploader: UploaderRig) throws -> [String] {
        try DeliveryConflict.page(in: uploader.rig.store.database, limit: 100).map {
            "\($0.metric) \($0.id) \($0.seen)"
        }
    }

    private func answer(_ uploader: UploaderRig, conflicts: [String]) throws {
        let effect = try uploader.request().effect
        let count = try Int64(uploader.dates(uploader.request().request).count)
        try uploader.rig.reply(
            effect,
            DeliveryReply.proven(
                .init(counts: .init(known: count), conflicts: conflicts, generation: "generation-1", sequence: 0)))
    }

    @Test func aConflictIsListedUntilItIsGone() throws {
        let again = ["a", "b"].map { DeliverySettings(form: $0) }
        let uploader = try UploaderRig(lives: [.init()] + again)
        try uploader.add(1...3)
        // An id that was never sent counts for nothing.
        try answer(uploader, conflicts: [UploaderRig.date(2), UploaderRig.date(3), "2025-01-01"])
        #expect(try listed(uploader) == ["daily \(UploaderRig.date(2)) 1", "daily \(UploaderRig.date(3)) 1"])
        #expect(try uploader.detail("conflicts") == 2 && uploader.detail("answers")["known"] == 3)
        // Nothing is sent again, because the elements count as delivered.
        #expect(try uploader.frontier() == 3 && uploader.uploads.isEmpty && uploader.letters().isEmpty)

        // If the form changes, everything is delivered again.
        try uploader.rig.restart()
        #expect(try uploader.detail("conflicts") == 2)
        try uploader.add(1...3)
        try answer(uploader, conflicts: [UploaderRig.date(3)])
        #expect(try listed(uploader) == ["daily \(UploaderRig.date(3)) 2"])

        try uploader.rig.restart()
        try uploader.add(1...3)
        try answer(uploader, conflicts: [])
        #expect(try listed(uploader).isEmpty && uploader.detail("conflicts") == 0)
    }
}
