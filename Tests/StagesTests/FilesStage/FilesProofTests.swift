import FilesStage
import Foundation
import HealthModel
import Protocol
import StageKit
import TestSupport
import Testing

/// Every file is computed again from its producers, and compared: once a day, and on request.
@Suite struct FilesProofTests {
    private static let first = "user=me/days/year=2025.csv"
    private static let second = "user=me/days/year=2024.csv"
    private static let strange = "user=you/days/year=2024.csv"
    private static let day: Int64 = 20_200

    private func written() throws -> FilesRig {
        let rig = try FilesRig()
        try rig.serve()
        try rig.change(Self.day, steps: 1)
        try rig.change(Self.day - 365, steps: 2)
        try rig.serve()
        try settle(rig)
        try #require(rig.disk[Self.first] != nil && rig.disk[Self.second] != nil)
        return rig
    }

    private func settle(_ rig: FilesRig) throws {
        for _ in 0..<3 {
            try rig.stage.pass(.seconds(3))
            try rig.serve()
        }
    }

    private func verify(_ rig: FilesRig, repairs: Bool, id: String = "verify") throws -> Value {
        var request = RepairRequest(id: id, action: "verify")
        if !repairs { request.dryRun = true }
        var repaired: RepairOutcome?
        try rig.stage.turn { repaired = try rig.stage.stage.repair(request, $0) }
        if case .done = repaired { Issue.record("nothing was read yet") }
        try rig.serve()
        try settle(rig)
        try rig.stage.turn { repaired = try rig.stage.stage.repaired(request, $0) }
        guard case .done(let said) = repaired else {
            Issue.record("\(String(describing: repaired))")
            return .null
        }
        return said
    }

    private func isAlert(_ rig: FilesRig) throws -> Bool {
        var raised = false
        try rig.stage.turn { raised = try $0.alerts(.degraded).contains { $0.subject == "proof" } }
        return raised
    }

    private func summary(_ rig: FilesRig) throws -> ProofSummary? {
        try rig.stage.report().details.read(UploaderDetails.self)?.proof
    }

    @Test func filesThatAreRight() throws {
        let rig = try written()
        #expect(try summary(rig) == nil, "it is due after a day")
        rig.written = []
        let said = try verify(rig, repairs: true)
        #expect(said["compared"] == 2 && said["different"] == 0 && said["missing"] == 0 && said["superfluous"] == 0)
        #expect(said["repaired"] == 0 && rig.written.isEmpty)
        #expect(try summary(rig)?.compared == 2 && summary(rig)?.wrong == 0 && !isAlert(rig))
    }

    @Test(arguments: [false, true]) func filesThatAreWrong(repairs: Bool) throws {
        let rig = try written()
        let good = rig.disk
        rig.disk[Self.first] = "edited"
        rig.disk[Self.second] = nil
        rig.disk[Self.strange] = "nobody's"
        let bad = rig.disk
        let said = try verify(rig, repairs: repairs)
        #expect(said["compared"] == 3 && said["different"] == 1 && said["missing"] == 1 && said["superfluous"] == 1)
        #expect(said["first"]["different"] == [.string(Self.first)])
        #expect(said["first"]["missing"] == [.string(Self.second)])
        #expect(said["first"]["superfluous"] == [.string(Self.strange)])
        #expect(said["repaired"].int == (repairs ? 3 : 0))
        if repairs {
            #expect(rig.disk.filter { $0.key != FilesRig.manifest } == good.filter { $0.key != FilesRig.manifest })
        } else {
            #expect(rig.disk == bad, "nothing is changed")
        }
        #expect(try summary(rig)?.wrong == 3 && isAlert(rig))
    }

    @Test func onceADayItComparesAndRepairs() throws {
        let rig = try written()
        let good = rig.disk[Self.first]
        rig.disk[Self.first] = "edited"
        try rig.stage.pass(.seconds(23 * 3600))
        try rig.serve()
        #expect(rig.disk[Self.first] == "edited", "it isn't due yet")
        try rig.stage.pass(.seconds(3600))
        try rig.serve()
        try settle(rig)
        #expect(rig.disk[Self.first] == good)
        #expect(try summary(rig)?.wrong == 1 && isAlert(rig), "whether it is right now isn't known yet")
        try rig.stage.pass(.seconds(3601))
        try rig.serve()
        try settle(rig)
        #expect(try summary(rig)?.wrong == 0 && !isAlert(rig))
        let before = try summary(rig)
        try rig.stage.restart()
        try rig.hear()
        try rig.serve()
        #expect(try summary(rig) == before)
    }

    /// What a start found changed is said until a proof has found everything right, an hour later.
    @Test func whatAStartFoundIsSaidForAnHour() throws {
        let rig = try written()
        let good = rig.disk[Self.first]
        rig.disk[Self.first] = "edited"
        try rig.stage.restart()
        try rig.hear()
        try rig.serve()
        try settle(rig)
        #expect(good != nil && rig.disk[Self.first] == good)
        func result() throws -> Value? { try rig.stage.report().details["backend"]?["result"] }
        #expect(try result() == "redelivered")
        try rig.stage.pass(.seconds(3601))
        try rig.serve()
        try settle(rig)
        #expect(try result() == "complete" && summary(rig)?.wrong == 0)
    }

    /// A day that was read, but whose change wasn't consumed yet, is no difference.
    @Test func aChangeThatIsOnItsWayIsNoDifference() throws {
        let rig = try written()
        var request = RepairRequest(id: "look", action: "verify")
        request.dryRun = true
        try rig.stage.turn { _ = try rig.stage.stage.repair(request, $0) }
        // The producer has it, but the stage hasn't heard of it.
        rig.sequence += 1
        rig.days[Self.day] = (rig.sequence, 9)
        try rig.serve()
        try rig.hear()
        try rig.serve()
        try settle(rig)
        var repaired: RepairOutcome?
        try rig.stage.turn { repaired = try rig.stage.stage.repaired(request, $0) }
        guard case .done(let said) = repaired else {
            Issue.record("\(String(describing: repaired))")
            return
        }
        #expect(said["different"] == 0)
        #expect(try summary(rig)?.wrong == 0 && !isAlert(rig))
    }

    @Test(arguments: [false, true]) func aManifestThatIsWrong(repairs: Bool) throws {
        let rig = try written()
        let good = rig.disk[FilesRig.manifest].map { $0.components(separatedBy: "\n").dropFirst(4) }
        for edit in [nil, "edited"] {
            rig.disk[FilesRig.manifest] = edit
            let said = try verify(rig, repairs: repairs, id: "\(edit ?? "")")
            #expect(said["different"] == 1 && said["first"]["different"] == [.string(FilesRig.manifest)])
            #expect(said["repaired"].int == (repairs ? 1 : 0) && said["pending"] == 0)
            if repairs {
                #expect(rig.disk[FilesRig.manifest].map { $0.components(separatedBy: "\n").dropFirst(4) } == good)
            } else {
                #expect(rig.disk[FilesRig.manifest] == edit)
            }
        }
    }

    /// A file that can't be written, for example because a folder has its name, ends the proof, and the others are
    /// written.
    @Test func aFileThatCannotBeWrittenHoldsUpNothing() throws {
        let rig = try written()
        rig.disk[Self.first] = nil
        rig.disk[Self.second] = nil
        var problem = FileProblem("something is in its way")
        problem.isOfOneFile = true
        rig.problem = problem
        rig.fails = { request in
            guard let part = request as? FilePart else { return false }
            return part.path == Self.first && !part.compares
        }
        let said = try verify(rig, repairs: true)
        #expect(said["missing"] == 2 && said["repaired"] == 1 && said["pending"] == 1)
        #expect(rig.disk[Self.second] != nil)
        #expect(try rig.stage.report().details["blocked"] == "something is in its way")
        #expect(rig.disk[FilesRig.manifest]?.contains("\"complete\": true") == false)
        #expect(try verify(rig, repairs: false, id: "again")["missing"] == 1)
        rig.problem = nil
        try rig.stage.pass(.seconds(61))
        try rig.serve()
        try settle(rig)
        #expect(rig.disk[Self.first] != nil && rig.disk[FilesRig.manifest]?.contains("\"complete\": true") == true)
        #expect(try rig.stage.report().details["blocked"] ?? .null == .null)
    }

    @Test func aDiskThatFailsEndsTheProof() throws {
        let rig = try written()
        var request = RepairRequest(id: "look", action: "verify")
        request.dryRun = true
        rig.problem = FileProblem("the disk is away")
        try rig.stage.turn { _ = try rig.stage.stage.repair(request, $0) }
        try rig.serve(5)
        var repaired: RepairOutcome?
        try rig.stage.turn { repaired = try rig.stage.stage.repaired(request, $0) }
        #expect(repaired == .refused("the disk is away"))
        rig.problem = nil
        request.id = "again"
        for _ in 0..<5 {
            try rig.stage.turn { repaired = try rig.stage.stage.repair(request, $0) }
            try settle(rig)
        }
        try rig.stage.turn { repaired = try rig.stage.stage.repaired(request, $0) }
        guard case .done(let said) = repaired else {
            Issue.record("\(String(describing: repaired))")
            return
        }
        #expect(said["compared"] == 2 && said["different"] == 0)
    }
}
