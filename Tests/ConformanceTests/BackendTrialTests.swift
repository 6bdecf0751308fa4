import Conformance
import Foundation
import HTTP
import HealthModel
import Terminal
import TestSupport
import Testing

/// Each mistake that a server can make is found by its own case, and by no case that the mistake doesn't affect.
@Suite(.inTurn, .timeLimit(.minutes(10))) struct BackendTrialTests {
    private func report(_ mistake: EveningServer.Mistake, only: BackendCase? = nil) throws -> BackendReport {
        let server = try EveningServer(mistake)
        defer { server.stop() }
        let trial = try BackendTrial(
            url: server.url, token: EveningServer.token, user: "healthbus-test-1", now: Instant(seconds: 1_750_000_000))
        return try trial.run(only: only)
    }

    @Test func aRightOnePassesWithoutWhatIsOnlyAdvised() async throws {
        let report = try report(.none)
        #expect(report.failed.isEmpty && report.left == 0, "\(report.json)")
        let missing = report.results.filter(\.hasFailed).map(\.asked)
        // The server has no generation, totals, versions, changes or manual entries.
        #expect(missing == [.manual, .generation, .stats, .versions, .changes], "\(report.json)")
    }

    @Test(
        arguments: [
            (.saysOK, [.sample], "isn't JSON"), (.noContent, [.shows], "204 with an empty body"),
            (.html, [.sample], "text/html"), (.redirects, [.sample], "https://example.org/api"),
            (.doubleCounts, [.sample], "add up"),
            (.refusalsByName, [.badElement], "refused"), (.serverError, [.sample], "500"),
            (.ignoresVersions, [.again, .lower, .lateCopy, .deletedFirst, .workout, .night, .day], "updated 1"),
            (.losesDeletes, [.deletion, .deletedFirst, .workout, .night, .day], "known 1"),
            (.forgetsDeleted, [.lateCopy, .deletedFirst, .workout, .night, .day], "created 1"),
            (.refusesAllForOne, [.badElement], "422"),
            (.keepsTwice, [.again, .higher, .lower, .twoAtOnce], "created"),
            (.onlySamples, [.workout, .night, .day], "404"),
            (.noToken, [.noToken, .wrongToken], "200"), (.strictMembers, [.unknownMembers], "refused 1"),
            (.onlyASCII, [.otherScripts], "refused 1"), (.needsValues, [.emptyMembers], "refused 1"),
            (.smallBodies, [.bigBatch], "400"),
        ] as [(EveningServer.Mistake, [BackendCase], String)])
    func aMistakeIsFound(_ mistake: EveningServer.Mistake, _ cases: [BackendCase], _ words: String) async throws {
        let report = try report(mistake)
        let failed = report.failed.map(\.asked)
        #expect(Set(cases).isSubset(of: failed), "\(failed)")
        // Other failures follow from this one.
        let others: [BackendCase] =
            mistake == .keepsTwice
            ? [.deletedFirst, .lateCopy, .revived, .badElement, .workout, .night, .day, .deletion] : []
        #expect(Set(failed).subtracting(cases).isSubset(of: others), "\(failed)")
        let reported = report.table(for: Terminal(isTerminal: false))
        #expect(reported.contains(words), "\(reported)")
        for result in report.results {
            guard case .failed(let fault) = result.outcome else { continue }
            #expect(!fault.asked.isEmpty && !fault.expected.isEmpty && !fault.seen.isEmpty && !fault.advice.isEmpty)
        }
    }

    /// A server that asks for no token passes without one; what can't be asked of it doesn't count against it.
    @Test func oneWithoutATokenNeedsNone() throws {
        let server = try EveningServer(.noToken)
        defer { server.stop() }
        let trial = try BackendTrial(
            url: server.url, token: nil, user: "healthbus-test-1", now: Instant(seconds: 1_750_000_000))
        let report = try trial.run()
        #expect(report.failed.isEmpty && report.left == 0, "\(report.json)")
        let skipped = report.results.filter { if case .skipped = $0.outcome { true } else { false } }.map(\.asked)
        #expect(skipped == [.noToken, .wrongToken])
    }

    /// A server needn't keep users apart: nothing is lost by mixing them, so nothing fails.
    @Test func usersInOnePotAreReportedAndDontFail() async throws {
        let report = try report(.mixesUsers)
        #expect(report.failed.isEmpty && report.results.contains { $0.asked == .users && $0.hasFailed })
    }

    @Test func whatCantBeSeenIsSkippedWithTheReason() async throws {
        let report = try report(.noContent)
        let skipped = report.results.filter { $0.outcome == .skipped("'shows' failed, so this can't be known") }
            .map(
                \.asked)
        #expect(skipped.contains(.lower) && skipped.contains(.lateCopy) && !skipped.contains(.bigBatch))
    }

    /// If the server accepted nothing, the report doesn't claim that anything was deleted.
    @Test func whatWasntWrittenIsntSaidToBeDeleted() throws {
        func table(_ mistake: EveningServer.Mistake) throws -> String {
            try report(mistake).table(for: Terminal(isTerminal: false))
        }
        #expect(try table(.none).contains("The test has deleted everything it wrote"))
        let redirects = try table(.redirects)
        #expect(redirects.contains("The server accepted nothing") && !redirects.contains("deleted everything"))
    }

    @Test func oneCaseAlone() async throws {
        let report = try report(.forgetsDeleted, only: .lateCopy)
        #expect(report.results.map(\.asked) == [.lateCopy] && report.failed.count == 1)
    }

    @Test func whereNothingAnswersThereIsNoReport() throws {
        let port = try freePort()
        let trial = try BackendTrial(
            url: "http://127.0.0.1:\(port)", token: "t", user: "healthbus-test-1", now: Instant(seconds: 1_750_000_000))
        var isAnswered = false
        #expect(throws: HTTPError.self) { try trial.run(answers: { isAnswered = true }) }
        #expect(!isAnswered)
        let open = try BackendTrial(
            url: "http://127.0.0.1:\(port)", token: nil, user: "healthbus-test-1",
            now: Instant(seconds: 1_750_000_000))
        #expect(throws: HTTPError.self) { try open.run() }
    }

    @Test func theJSONHasEachCase() throws {
        let report = BackendReport(
            url: "http://x", user: "u",
            results: [
                .init(.sample, .passed),
                .init(.lower, .failed(.init(asked: "a", expected: "b", seen: "c", advice: "d"))),
                .init(.manual, .failed(.init(asked: "a", expected: "b", seen: "c", advice: "d"))),
                .init(.stats, .skipped("why")),
            ], left: 2)
        let value = try Value(json: report.json.utf8)
        #expect(value["passed"] == 1 && value["failed"] == 1 && value["missing"] == 1 && value["skipped"] == 1)
        #expect(value["left"] == 2 && value["user"] == "u")
        #expect(
            value["cases"].array?[1] == [
                "case": "lower", "about": .string(BackendCase.lower.about), "required": true, "result": "failed",
                "asked": "a",
                "expected": "b", "seen": "c", "do": "d",
            ])
    }
}
