import HealthModel
import Protocol
import TestSupport
import Testing

/// What a decoder must withstand from any process that can reach the bus.
@Suite struct CBORLimitTests {
    private func error(_ bytes: [UInt8]) -> CBORError? {
        do throws(CBORError) {
            _ = try CBORDecoder.decode(bytes)
            return nil
        } catch { return error }
    }

    @Test func nestingEndsAt32() {
        // 31 arrays around an integer are 32 levels.
        #expect(error(Array(repeating: 0x81, count: 31) + [1]) == nil)
        #expect(error(Array(repeating: 0x81, count: 32) + [1]) == .tooDeep(at: 32))
        #expect(error(Array(repeating: 0x81, count: 31) + [0x80]) == nil)
        #expect(error(Array(repeating: 0x81, count: 32) + [0x80]) == .tooDeep(at: 32))
        // Maps, and tags that aren't ours, are levels too.
        #expect(error(Array(repeating: [0xA1, 0x61, 0x61], count: 33).flatMap { $0 } + [1]) == .tooDeep(at: 94))
        #expect(error(Array(repeating: 0xC1, count: 1_000_000)) == .tooDeep(at: 32))
    }

    /// Strings, arrays, maps and typed arrays that claim a gigabyte or the whole address space.
    @Test(arguments: [
        "5a40000000", "7a40000000", "9a40000000", "ba40000000", "d84f5a40000000", "d8405a40000000", "d8565a40000000",
        "5b7fffffffffffffff", "7bffffffffffffffff", "9bffffffffffffffff", "bbffffffffffffffff", "9b8000000000000000",
        "d84e5bfffffffffffffff8", "5bfffffffffffffff7", "d84f5bffffffffffffffff",
    ])
    func declaredLengthsAreNotBelieved(hex: String) throws {
        for tail in [[], [UInt8](repeating: 0, count: 64)] {
            let bytes = [UInt8](hex: hex) + tail
            let before = ResidentMemory.peak()
            guard case .truncated? = error(bytes) else {
                Issue.record("\(hex): \(String(describing: error(bytes)))")
                return
            }
            for _ in 0..<1000 { _ = error(bytes) }
            // Other tests run at the same time, but a gigabyte would still be noticed.
            #expect(ResidentMemory.peak() - before < 400 << 20)
        }
    }

    /// Nesting doesn't multiply memory use: in an array of arrays, each one claims all of the remaining bytes.
    @Test func nestedClaimsAddUpToNothing() {
        var bytes: [UInt8] = []
        for _ in 0..<30 { bytes += [0x9A, 0x00, 0x00, 0xFF, 0xFF] }
        bytes += Array(repeating: 0xF6, count: 70_000)
        let (refused, took) = processorTime { error(bytes) }
        #expect(refused != nil)
        #expect(took < .seconds(2))
    }

    @Test func integersBeyond64BitsAreRefused() {
        #expect(error([UInt8](hex: "1b8000000000000000")) == .outOfRange(at: 9))
        #expect(error([UInt8](hex: "1bffffffffffffffff")) == .outOfRange(at: 9))
        #expect(error([UInt8](hex: "3b8000000000000000")) == .outOfRange(at: 9))
        #expect(error([UInt8](hex: "3bffffffffffffffff")) == .outOfRange(at: 9))
    }

    @Test func textMustBeUTF8() {
        for text in ["61ff", "62c328", "63eda080", "62c080", "64f4908080"] {
            #expect(error([UInt8](hex: text)) == .notUTF8(at: text.count / 2), "\(text)")
        }
    }

    @Test func keysMustBeTextAndDifferent() {
        #expect(error([UInt8](hex: "a10102")) == .keyIsNotText(at: 2))
        #expect(error([UInt8](hex: "a1416102")) == .keyIsNotText(at: 3))
        #expect(error([UInt8](hex: "a1f602")) == .keyIsNotText(at: 2))
        #expect(error([UInt8](hex: "a2616101616102")) == .duplicateKey(at: 7))
    }

    /// Indefinite lengths, simple values, a break on its own: forms this protocol doesn't use.
    @Test(arguments: ["5f4101ff", "7f6161ff", "9f01ff", "bf616101ff", "ff", "8301ff02"])
    func indefiniteLengthsAreRefused(hex: String) {
        guard case .unsupported(let at)? = error([UInt8](hex: hex)) else {
            Issue.record("\(hex): \(String(describing: error([UInt8](hex: hex))))")
            return
        }
        #expect(CBORError.unsupported(at: at).description.contains("doesn't use"))
    }

    @Test func reservedFormsAreRefused() {
        for hex in ["1c", "3d", "5e", "7c", "9c", "bd", "dc", "fc", "f0", "f8ff"] {
            #expect(error([UInt8](hex: hex)) != nil, "\(hex)")
        }
    }

    @Test func exactlyOneValueIsRead() {
        #expect(error([]) == .truncated(at: 0))
        #expect(error([1, 2]) == .trailingBytes(at: 1))
        #expect(error([UInt8](hex: "8201")) != nil)
    }

    @Test func typedArraysHoldWholeNumbers() {
        #expect(error([UInt8](hex: "d84f4101")) != nil)
        #expect(error([UInt8](hex: "d84e43010203")) != nil)
        #expect(error([UInt8](hex: "d85647000000000000f8")) != nil)
        // A tag on something other than a byte string, and a tag without content.
        #expect(error([UInt8](hex: "d84f01")) != nil)
        #expect(error([UInt8](hex: "d84f8101")) != nil)
        #expect(error([UInt8](hex: "d84fd84f40")) != nil)
        #expect(error([UInt8](hex: "d84f")) == .truncated(at: 2))
    }

    @Test(arguments: [true, false])
    func cutAnywhereItIsRefused(isFull: Bool) {
        let bytes = CBOREncoder.encode(PageFixture.body(120, isFull: isFull))
        #expect(error(bytes) == nil)
        for length in 0..<bytes.count where error(Array(bytes.prefix(length))) == nil {
            Issue.record("\(length) of \(bytes.count) bytes were read")
        }
    }

    /// A hundred thousand pages with a few bytes changed, cut or moved: each is decoded or refused, and what is decoded
    /// is accepted as a page or refused.
    @Test func mutatedPagesNeverCrash() throws {
        var random = SeededRandom(seed: 100_000)
        let pages = [12, 40, 3].enumerated().map { index, count in
            CBOREncoder.encode(PageFixture.body(count, isFull: index != 1, seed: UInt64(index)))
        }
        var outcomes = (refused: 0, values: 0, pages: 0)
        for _ in 0..<100_000 {
            var bytes = pages.randomElement(using: &random) ?? []
            for _ in 0..<Int.random(in: 1...6, using: &random) { Self.mutate(&bytes, &random) }
            guard let value = try? CBORDecoder.decode(bytes) else {
                outcomes.refused += 1
                continue
            }
            outcomes.values += 1
            guard let page = try? SamplePage(wireValue: value["samples"]) else { continue }
            outcomes.pages += 1
            // Readers of a page rely on its columns: none of these accesses may go out of bounds.
            for row in 0..<page.count {
                _ = (page.typeName(row), page.originOf(row), page.sequence[row], page.start[row], page.value[row])
                if page.metadata.count > 0 { _ = page.metadata[row] }
                if !page.unit.isEmpty { _ = page.units[Int(page.unit[row])] }
            }
        }
        // If one of these counts were near 0, the fuzzing would be too coarse or too mild to mean anything.
        #expect(outcomes.refused > 1000 && outcomes.values > 1000 && outcomes.pages > 1000, "\(outcomes)")
    }

    private static func mutate(_ bytes: inout [UInt8], _ random: inout SeededRandom) {
        guard bytes.count > 8 else { return }
        let at = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0...9, using: &random) {
        case 0: bytes.removeSubrange(at..<min(bytes.count, at + Int.random(in: 1...8, using: &random)))
        case 1: bytes.insert(.random(in: .min ... .max, using: &random), at: at)
        case 2: bytes.removeLast(min(bytes.count - 1, Int.random(in: 1...40, using: &random)))
        case 3: bytes[at] ^= 1 << UInt8.random(in: 0...7, using: &random)
        default: bytes[at] = .random(in: .min ... .max, using: &random)
        }
    }
}
