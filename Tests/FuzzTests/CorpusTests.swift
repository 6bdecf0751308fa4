import Foundation
import FuzzTargets
import TestSupport
import Testing

/// The inputs that `make fuzz` starts with, including those that it has found, go through the same functions in the
/// ordinary build.
@Suite struct CorpusTests {
    private static let corpus = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Fuzz/Corpus")

    private static func inputs(_ target: FuzzTarget) throws -> [URL] {
        try FileManager.default.contentsOfDirectory(
            at: corpus.appending(path: target.rawValue), includingPropertiesForKeys: nil)
    }

    @Test(arguments: FuzzTarget.allCases)
    func everyInputKeepsTheRules(target: FuzzTarget) throws {
        let inputs = try Self.inputs(target)
        #expect(inputs.count >= 5)
        for input in inputs {
            let bytes = Array(try Data(contentsOf: input))
            #expect(throws: Never.self, "\(input.lastPathComponent)") { try target.run(bytes) }
        }
    }

    /// The inputs are truncated at an arbitrary point, and one of their bytes is changed, which is what libFuzzer does
    /// first.
    @Test(arguments: FuzzTarget.allCases)
    func spoiltInputsKeepTheRules(target: FuzzTarget) throws {
        var random = SeededRandom(seed: 1)
        for input in try Self.inputs(target) {
            let bytes = Array(try Data(contentsOf: input))
            // A recipe for a large input takes too long to run more than once.
            guard bytes.count > 1, bytes[0] != 0xFE else { continue }
            for _ in 0..<20 {
                var spoilt = Array(bytes.prefix(Int.random(in: 1...bytes.count, using: &random)))
                spoilt[Int.random(in: spoilt.indices, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
                #expect(throws: Never.self, "\(input.lastPathComponent): \(spoilt)") { try target.run(spoilt) }
            }
        }
    }
}
