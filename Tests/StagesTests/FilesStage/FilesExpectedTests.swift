import FilesStage
import HealthModel
import MessageBus
import Protocol
import StageKit
import TestSupport
import Testing

/// Which files of samples should be there: a proof finds those that are missing, and nothing is removed merely because
/// the observer doesn't show a type.
@Suite struct FilesExpectedTests {
    private static let type = "HKQuantityTypeIdentifierStepCount"
    private static let weight = "HKQuantityTypeIdentifierBodyMass"

    private static func path(_ type: String, _ month: String) -> String {
        "user=me/samples/type=\(type)/month=\(month).csv"
    }

    private static func instant(_ text: String) throws -> Instant { try #require(InstantText.parse(text)) }

    /// Steps in January and April 2025, a weight in April.
    private func written() throws -> FilesRig {
        let rig = try FilesRig()
        try rig.serve()
        rig.observer.add(Self.type, at: try Self.instant("2025-01-02T10:00:00Z"))
        rig.observer.add(Self.type, at: try Self.instant("2025-04-02T10:00:00Z"))
        rig.observer.add(Self.weight, at: try Self.instant("2025-04-03T10:00:00Z"))
        try settle(rig)
        try #require(
            files(rig) == [
                Self.path(Self.type, "2025-01"), Self.path(Self.type, "2025-04"), Self.path(Self.weight, "2025-04"),
            ])
        return rig
    }

    private func files(_ rig: FilesRig) -> Set<String> { Set(rig.disk.keys).subtracting([FilesRig.manifest]) }

    private func settle(_ rig: FilesRig) throws {
        for _ in 0..<3 {
            try rig.hear()
            try rig.serve()
            try rig.stage.pass(.seconds(3))
            try rig.serve()
        }
    }

    private func verify(_ rig: FilesRig, _ id: String, repairs: Bool = true) throws -> Value {
        var request = RepairRequest(id: id, action: "verify")
        if !repairs { request.dryRun = true }
        var repaired: RepairOutcome?
        try rig.stage.turn { repaired = try rig.stage.stage.repair(request, $0) }
        try settle(rig)
        try rig.stage.turn { repaired = try rig.stage.stage.repaired(request, $0) }
        guard case .done(let said) = repaired else {
            Issue.record("\(String(describing: repaired))")
            return .null
        }
        return said
    }

    private func reset(_ rig: FilesRig) throws {
        try rig.stage.turn { _ = try rig.stage.stage.repair(RepairRequest(id: "reset", action: "reset"), $0) }
        for pull in rig.stage.pulls where pull.name == "samples" {
            try rig.stage.answer(pull, .reset(head(rig.observer.sequence)))
        }
        try settle(rig)
    }

    /// A denied type looks as if there were nothing of it, but its files stay, whatever makes the stage look at them;
    /// one that is gone comes back once the type is allowed.
    @Test func aDenialRemovesNothing() throws {
        let rig = try written()
        let good = rig.disk
        let (first, second) = (Self.path(Self.type, "2025-01"), Self.path(Self.type, "2025-04"))
        rig.observer.denied = [Self.type]
        let said = try verify(rig, "a")
        #expect(said["superfluous"] == 0 && said["missing"] == 0 && said["compared"] == 1, "it can't be judged")
        try rig.stage.pass(.seconds(25 * 3600))
        try settle(rig)
        #expect(files(rig) == files(rig).union([first, second]))
        rig.disk[first] = "edited"
        rig.disk[second] = nil
        try rig.stage.restart()
        try settle(rig)
        #expect(
            rig.disk[first] == "edited" && rig.disk[second] == nil && rig.disk[Self.path(Self.weight, "2025-04")] != nil
        )
        try reset(rig)
        #expect(rig.disk[first] == "edited" && rig.disk[Self.path(Self.weight, "2025-04")] != nil)
        rig.observer.denied = []
        rig.observer.renew(Self.type)
        try settle(rig)
        #expect(files(rig) == Set(good.keys).subtracting([FilesRig.manifest]))
        #expect(rig.disk[first] != "edited")
        #expect(try verify(rig, "b")["compared"] == 3)
    }

    /// Once the samples themselves are gone, so is their file.
    @Test func aTypeWithoutLivingSamplesHasNoFiles() throws {
        let rig = try written()
        rig.observer.renew(Self.weight, isDeleted: true)
        try settle(rig)
        #expect(files(rig) == [Self.path(Self.type, "2025-01"), Self.path(Self.type, "2025-04")])
    }

    /// Files that neither the ledger nor the folder knows; here, because the samples were denied when they changed.
    @Test(arguments: [false, true]) func filesThatShouldBeThereAreFound(repairs: Bool) throws {
        let rig = try written()
        let good = files(rig)
        rig.observer.denied = [Self.type]
        rig.disk[Self.path(Self.type, "2025-01")] = nil
        rig.disk[Self.path(Self.type, "2025-04")] = nil
        try rig.stage.restart()
        try settle(rig)
        rig.observer.denied = []
        rig.observer.add(Self.weight, at: try Self.instant("2024-12-03T10:00:00Z"))
        try settle(rig)
        rig.observer.slices = []
        let said = try verify(rig, "a", repairs: repairs)
        #expect(said["missing"] == 2 && said["different"] == 0 && said["superfluous"] == 0)
        let gap = try Self.instant("2025-01-01T00:00:00Z")..<Self.instant("2025-05-01T00:00:00Z")
        #expect(rig.observer.slices.contains(gap), "one question for all of a gap")
        #expect(good.isSubset(of: files(rig)) == repairs)
        if repairs { #expect(try verify(rig, "b")["missing"] == 0) }
    }

    @Test func aYearOfDaysThatShouldBeThereIsFound() throws {
        let rig = try written()
        let path = "user=me/days/year=2025.csv"
        try rig.change(20_200, steps: 5)
        try settle(rig)
        // For a while the consolidator shows nothing.
        let days = rig.days
        rig.days = [:]
        #expect(try verify(rig, "a")["superfluous"] == 1 && rig.disk[path] == nil)
        rig.days = days
        #expect(try verify(rig, "b")["missing"] == 1 && rig.disk[path] != nil)
    }
}
