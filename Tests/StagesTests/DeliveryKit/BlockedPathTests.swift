import DeliveryKit
import HealthModel
import TestSupport
import Testing

/// A backend that refuses everything on one path, while the other paths go on.
@Suite struct BlockedPathTests {
    /// Adds twenty rounds of samples, a minute apart, while all heart rates are refused.
    /// - Parameter every: how many rounds there are for each heart rate.
    private func blocked(every: Int) throws -> SamplesRig {
        let rig = try SamplesRig()
        rig.refused = SamplesRig.rates
        for round in 0..<20 {
            if round.isMultiple(of: every) {
                try rig.add(SamplesRig.rates, .other)
            } else {
                try rig.add(.other)
            }
            #expect(try rig.delivered == round + 1 && rig.frontier() == 0, "round \(round)")
            try rig.pass(.seconds(60))
        }
        return rig
    }

    /// The backend accepts heart rates from now on.
    private func accept(_ rig: SamplesRig) throws {
        rig.refused = nil
        for _ in 0..<5 { try rig.pass(.seconds(60)) }
    }

    private func expectAll(_ rig: SamplesRig) throws {
        #expect(try rig.frontier()?.value == Int64(rig.samples.count) && rig.delivered == rig.samples.count)
        #expect(try rig.letters() == 0 && rig.detail("held") == 0 && rig.detail("waiting") == 0)
        #expect(try rig.alerts().isEmpty && rig.detail("blocked").isNull)
    }

    /// The sets of samples that wait don't keep later ones from being fetched.
    @Test(arguments: [1, 5, 20]) func otherPathsGoOn(every: Int) throws {
        let rig = try blocked(every: every)
        #expect(try rig.detail("waiting") == 1 && rig.letters() == 0)
        try accept(rig)
        try expectAll(rig)
        // Everything is delivered once, and in its order.
        let versions = try #require(rig.accepted[SamplesRig.rates])
        #expect(versions == versions.sorted() && versions.count == 20 / every)
        #expect(rig.accepted[.other]?.count == 20)
    }

    /// Everything after the anchor is sent again, including what was accepted.
    @Test func aRestartMeanwhileLosesNothing() throws {
        let rig = try blocked(every: 5)
        try rig.rig.restart()
        try rig.release()
        #expect(try rig.delivered == 20 && rig.frontier() == 0)
        try rig.pass(.seconds(60))
        try accept(rig)
        try expectAll(rig)
    }

    /// What waits belongs to the former generation.
    @Test func anObserverThatStartsOverMeanwhileIsReadAgain() throws {
        let rig = try blocked(every: 5)
        try rig.restore()
        #expect(try rig.frontier() == 0)
        try rig.add(.other)
        try accept(rig)
        try expectAll(rig)
    }

    /// "Nothing has reached the backend" isn't said while other paths are accepted, however long one is refused.
    @Test func theOtherPathsAreNotSaidToBeStuck() throws {
        let rig = try blocked(every: 1)
        #expect(try rig.alerts() == ["refusals"] && rig.rig.log.count("alert.raised") == 1)
        // Once nothing else comes, it is true.
        try rig.pass(.seconds(15 * 60))
        #expect(try rig.alerts() == ["refusals", "delivery"])
        try rig.add(.other)
        #expect(try rig.alerts() == ["refusals"])
    }
}
