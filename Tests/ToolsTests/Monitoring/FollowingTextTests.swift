import HealthModel
import Inspection
import Monitoring
import Protocol
import Terminal
import Testing

/// What `status` says about a stack that this one follows.
@Suite struct FollowingTextTests {
    private static let now = Instant(seconds: 1_790_000_000)

    private func text(_ change: (inout IngestDetails.Following) -> Void) -> String {
        var reported = IngestDetails.Following(address: "https://there")
        change(&reported)
        return StatusReport.followingText(StatusReport.following(reported)) {
            $0.string == nil ? "never" : "a while ago"
        }
    }

    @Test func theLineSaysHowItIsGoing() {
        #expect(StatusReport.followingText(.null) { _ in "" } == "")
        #expect(text { _ in } == "Follows https://there: no answer yet.\n")
        let upToDate = text { reported in (reported.lastAnswer, reported.samples) = (Self.now, 1200) }
        let count = HumanFormat.count(1200)
        #expect(upToDate == "Follows https://there: last answer a while ago, \(count) samples taken, up to date.\n")
        let copying = text { reported in
            (reported.lastAnswer, reported.hasMore, reported.isCopying) = (Self.now, true, true)
        }
        #expect(
            copying == "Follows https://there: last answer a while ago, more to come; "
                + "no day becomes final until all of it has been copied.\n")
    }

    @Test func aFailureIsInTheLineAndInTheDocument() {
        func fail(_ reported: inout IngestDetails.Following) {
            reported.problem = .init(
                what: "it refuses the token", remedy: "make one", isRefusal: true, since: Self.now,
                nextTry: Self.now + .seconds(60))
        }
        #expect(
            text(fail) == "Follows https://there: no answer yet; first failure a while ago, next try a while ago: "
                + "it refuses the token.\n")
        var reported = IngestDetails.Following(address: "https://there")
        fail(&reported)
        let problem = StatusReport.following(reported)["problem"]
        #expect(problem["isRefusal"] == true && problem["remedy"] == "make one" && problem["since"].string != nil)
    }

    @Test func whoFollowsIsntAskedToImport() {
        func advice(_ isRunning: Bool, _ follows: Bool) -> String {
            NothingYet.advice([], user: nil, isDays: true, isRunning: isRunning, follows: follows)
        }
        #expect(advice(true, false).contains("import FILE"))
        #expect(!advice(true, true).contains("import FILE") && advice(true, true).contains("'healthbus status'"))
        #expect(advice(false, true).contains("'healthbus up'"))
    }
}
