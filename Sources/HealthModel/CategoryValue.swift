/// Names of category values, as exports print them, and their raw integers from HKCategoryValues.h.
public enum CategoryValue {
    /// The raw integer of `HKCategoryValueSleepAnalysisAsleepCore` and the like, or of a number in digits; nil when
    /// unknown.
    public static func raw(of name: some StringProtocol) -> Int? {
        var copy = String(name)
        return copy.withUTF8 { raw(of: $0) }
    }

    /// The same as above, but from UTF-8 bytes and without making a string.
    package static func raw(of name: UnsafeBufferPointer<UInt8>) -> Int? {
        guard let first = name.first else { return nil }
        if (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) {
            return name.count < 10 ? digits(name) : nil
        }
        guard let entry = byHash[hash(name)], entry.name.elementsEqual(name) else { return nil }
        return entry.raw
    }

    /// The name that exports print for a type's raw value; nil when unknown.
    public static func name(of raw: Int, type identifier: String) -> String? {
        guard identifier.hasPrefix(HealthType.categoryPrefix) else { return nil }
        let family = String(identifier.dropFirst(HealthType.categoryPrefix.count))
        return byFamily[family]?[raw].map { prefix + $0 }
    }

    static let prefix = "HKCategoryValue"

    private static func digits(_ text: UnsafeBufferPointer<UInt8>) -> Int? {
        var number = 0
        for byte in text {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            number = number * 10 + Int(byte - UInt8(ascii: "0"))
        }
        return number
    }

    /// FNV-1a is enough: there are few names, and each hit is compared in full.
    private static func hash(_ bytes: some Sequence<UInt8>) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return hash
    }

    private static let byHash: [UInt64: (name: [UInt8], raw: Int)] = {
        var table: [UInt64: (name: [UInt8], raw: Int)] = [:]
        for (family, values) in CategoryValueTable.families {
            for (value, raw) in values {
                let name = Array((prefix + family + value).utf8)
                table[hash(name)] = (name, raw)
            }
        }
        return table
    }()

    /// Names by type and raw value; a type either has its own family or shares one with others.
    private static let byFamily: [String: [Int: String]] = {
        var table: [String: [Int: String]] = [:]
        for (family, values) in CategoryValueTable.families {
            // The first name wins: later ones are spellings from other iOS versions.
            let names = Dictionary(values.map { ($0.1, family + $0.0) }, uniquingKeysWith: { first, _ in first })
            table[family] = names
            for type in CategoryValueTable.sharing[family] ?? [] { table[type] = names }
        }
        return table
    }()
}
