import Foundation
import Testing

/// A module's tests are in the target named after it (a stage's without `Stage`), or in a folder with its name in another
/// target.
extension ArchitectureTests {
    /// Targets that aren't named after a module.
    private static let targetsOfSeveral: Set = [
        "Handlers", "Stages", "Tools",  // a folder for each module: handlers, stages, and what the commands do
        "EndToEnd",  // the programs, as people start them
        "Fuzz",  // the targets of `make fuzz`, run on their corpus
        "Payloads",  // the table of payloads, from each way in to each destination
        "Reliability",  // power loss, and the mutants
    ]

    /// Folders that aren't named after a module.
    private static let otherFolders: Set = [
        "Faults",  // everything that can go wrong, from one seed
        "Harness",  // starts the programs for tests
        "Identity",  // one life that arrives in three ways
        "Places",  // as in the sources of `HealthStatistics`
        "Repository",  // the sources, documentation and build themselves
    ]

    /// Modules without tests of their own.
    private static let testedByOthers: Set = [
        "Clocks",  // reads the system's clocks
        "Digest",  // one call of libsodium, on which the files' proofs depend
    ]

    @Test func everyModuleHasAPlaceForItsTests() throws {
        let root = Checkout.root.appending(path: "Tests")
        let modules = Set(targets.map(\.name).filter { !$0.hasPrefix("healthbus") })
        var tested: Set<String> = []
        for case let path as String in try #require(FileManager.default.enumerator(atPath: root.path))
        where path.hasSuffix("Tests.swift") {
            let folders = path.split(separator: "/").dropLast().map(String.init)
            guard let target = folders.first, target.hasSuffix("Tests") else { continue }
            let name = String(target.dropLast("Tests".count))
            let own = [name, "\(name)Stage"].first(where: modules.contains)
            #expect(own != nil || Self.targetsOfSeveral.contains(name), "Tests/\(path): no module is called \(name)")
            for folder in folders.dropFirst() {
                let isKnown = modules.contains(folder) || Self.otherFolders.contains(folder)
                #expect(isKnown, "Tests/\(path): no module is called \(folder)")
            }
            let text = try String(contentsOf: root.appending(path: path), encoding: .utf8)
            if text.contains("@Test"), let module = folders.last(where: modules.contains) ?? own {
                tested.insert(module)
            }
        }
        #expect(modules.subtracting(tested) == Self.testedByOthers)
    }
}
