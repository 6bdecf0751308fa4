import Changelog
import Configuration
import DeliveryKit
import HTTP
import HealthModel
import Protocol
import Simulation
import TestSupport
import Testing
import UploaderStage

/// A backend that refuses one element after another without naming them: is it the data, or the backend?
@Suite struct HeldTests {
    private static let refusal = UploadReply.answered(status: 400, body: [])

    private func bad(_ numbers: Int64...) -> ([String]) -> UploadReply? {
        let dates = Set(numbers.map(UploaderRig.date))
        return { dates.isDisjoint(with: $0) ? nil : Self.refusal }
    }

    @Test func aBackendThatRefusesAllForAWhileAddsNoDeadLetter() throws {
        for hasAccepted in [false, true] {
            let rig = try UploaderRig()
            try rig.add(1...1)
            if hasAccepted { try rig.serve() }
            try rig.add(2...15)
            for _ in 0..<20 {
                try rig.serve { _ in Self.refusal }
                try rig.rig.pass(.seconds(8))
            }
            #expect(try rig.letters().isEmpty && rig.frontier() == (hasAccepted ? 1 : 0))
            #expect(try rig.alerts().contains("refusals") && rig.detail("held").int == 4)
            #expect(try rig.detail("blocked").string?.contains("/api/v1/sync/daily") == true)
            for _ in 0..<3 {
                try rig.serve()
                try rig.rig.pass(.seconds(8))
            }
            #expect(try rig.frontier() == 15 && rig.delivered == 15 && rig.letters().isEmpty)
            #expect(try rig.alerts().isEmpty && rig.detail("held") == 0 && rig.detail("blocked").isNull)
        }
    }

    @Test(arguments: [[3], [1], [15], [1, 2], [14, 15], [1, 8, 15], [4, 5, 6]] as [[Int64]])
    func trueOnesBecomeDeadLettersAndTheRestIsDelivered(_ numbers: [Int64]) throws {
        let rig = try UploaderRig()
        try rig.add(1...15)
        let dates = Set(numbers.map(UploaderRig.date))
        try rig.serve { dates.isDisjoint(with: $0) ? nil : Self.refusal }
        #expect(try Set(rig.letters()) == dates && rig.frontier() == 15)
        #expect(try rig.delivered == 15 - numbers.count && rig.alerts().isEmpty)
    }

    /// The reason and the status say what the destination itself said about each element.
    @Test func aDeadLetterHasTheReasonOfItsOwnRefusal() throws {
        let rig = try UploaderRig()
        try rig.add(1...4)
        let codes = [UploaderRig.date(2): 422, UploaderRig.date(3): 400]
        for _ in 0..<40 {
            guard !rig.uploads.isEmpty else { break }
            let (effect, request) = try rig.request()
            let dates = try rig.dates(request)
            guard let code = dates.compactMap({ codes[$0] }).first else {
                try rig.rig.reply(
                    effect,
                    DeliveryReply.onTrust(.init(counts: .init(created: Int64(dates.count)), status: 200)))
                continue
            }
            let reason = "the server refuses it (\(code))"
            try rig.rig.reply(effect, DeliveryReply.failed(.init(.refused(reason), why: "no", status: code)))
        }
        let letters = try DeadLetter.page(in: rig.rig.store.database, RepairSelection(), limit: 10)
        #expect(
            Dictionary(uniqueKeysWithValues: letters.map { ($0.id, $0.reason) })
                == codes.mapValues {
                    "the server refuses it (\($0))"
                })
        #expect(letters.allSatisfy { $0.status == codes[$0.id] })
    }

    /// A server or a database isn't called a backend.
    @Test func aDestinationIsCalledWhatItIs() throws {
        let rig = try UploaderRig(.init(destination: .init(.server)))
        try rig.add(1...9)
        for _ in 0..<20 {
            try rig.serve { _ in Self.refusal }
            try rig.rig.pass(.seconds(8))
        }
        let why = try rig.detail("blocked").string ?? ""
        #expect(why.hasPrefix("the server refuses one element after another of daily (400)"))
        #expect(!why.contains("backend"))
        #expect(try rig.alerts().contains("refusals"))
    }

    /// The backend has accepted such elements before.
    @Test func manyInARowAreBelievedOnceItHasTakenOne() throws {
        let rig = try UploaderRig()
        try rig.add(1...1)
        try rig.serve()
        try rig.add(2...12)
        let dates = Set((2...12).map { UploaderRig.date($0) })
        try rig.serve(400) { dates.isDisjoint(with: $0) ? nil : Self.refusal }
        #expect(try Set(rig.letters()) == dates && rig.frontier() == 12)
    }

    /// The backend accepts requests without elements, but has never accepted an element: either may be at fault, so
    /// nothing is given up.
    @Test func moreThanAFewInARowAreHeldUntilSomethingIsTaken() throws {
        let rig = try UploaderRig()
        try rig.answerQuestion()
        try rig.add(1...6)
        let refuses: ([String]) -> UploadReply? = { $0.isEmpty ? nil : Self.refusal }
        for _ in 0..<6 {
            try rig.serve(100, refuses)
            #expect(try rig.letters().isEmpty && rig.frontier() == 0)
            #expect(try rig.alerts() == ["refusals"] && rig.detail("held") == 4)
            try rig.rig.pass(.seconds(8))
        }
        // A restart loses nothing that the stage needs.
        try rig.rig.restart()
        try rig.add(7...7)
        for _ in 0..<6 {
            try rig.serve(100, bad(1, 2, 3, 4, 5, 6))
            try rig.rig.pass(.seconds(8))
        }
        #expect(try rig.letters().count == 6 && rig.frontier() == 7 && rig.delivered == 1)
    }

    @Test func aPersonCanHaveItBelieved() throws {
        let rig = try UploaderRig(.init(refusedInARow: 0))
        try rig.add(1...6)
        try rig.serve { _ in Self.refusal }
        #expect(try rig.letters().count == 6 && rig.frontier() == 6)
    }

    /// The backend was at fault when it refused the elements, but no longer is.
    @Test func whatWasRefusedBeforeAWaitIsHeardAgain() throws {
        let rig = try UploaderRig()
        try rig.add(1...1)
        try rig.serve { _ in Self.refusal }
        #expect(try rig.detail("held") == 1 && rig.uploads.isEmpty)
        try rig.rig.pass(.seconds(8))
        try rig.serve()
        #expect(try rig.letters().isEmpty && rig.frontier() == 1 && rig.delivered == 1)
    }
}
