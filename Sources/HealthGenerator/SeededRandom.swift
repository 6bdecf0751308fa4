/// xoshiro256**, seeded by SplitMix64: the same numbers on every machine and in every version of the toolchain.
struct SeededRandom {
    private var a: UInt64
    private var b: UInt64
    private var c: UInt64
    private var d: UInt64

    /// A separate stream for each seed, subject and day, so that a day's data doesn't depend on earlier draws.
    init(seed: UInt64, subject: UInt64, day: Int) {
        var state = seed &+ subject &* 0xD1B5_4A32_D192_ED03 &+ UInt64(bitPattern: Int64(day)) &* 0x8CB9_2BA7_2F3D_8DD7
        func next(_ state: inout UInt64) -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
            return z ^ z >> 31
        }
        a = next(&state)
        b = next(&state)
        c = next(&state)
        d = next(&state)
    }

    mutating func bits() -> UInt64 {
        let product = b &* 5
        let result = (product << 7 | product >> 57) &* 9
        let shifted = b << 17
        c ^= a
        d ^= b
        b ^= c
        a ^= d
        c ^= shifted
        d = d << 45 | d >> 19
        return result
    }

    /// Uniform in 0..<1.
    mutating func unit() -> Double { Double(bits() >> 11) * 0x1p-53 }

    mutating func uniform(_ low: Double, _ high: Double) -> Double { low + (high - low) * unit() }

    /// Uniform in 0..<count.
    mutating func index(_ count: Int) -> Int { Int((bits() >> 33) % UInt64(count)) }

    mutating func chance(_ probability: Double) -> Bool { unit() < probability }

    /// Roughly normal: the sum of three uniform numbers, within three standard deviations.
    mutating func normal(_ mean: Double, _ deviation: Double) -> Double {
        mean + deviation * 2 * (unit() + unit() + unit() - 1.5)
    }
}
