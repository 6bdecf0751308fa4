/// Category values by their names without HealthKit's prefixes, as apps show them: `Mild`, `Egg White`, `In Bed`.
extension CategoryValue {
    /// The raw value for such a name; nil if the type has no value with that name. Only letters are compared, ignoring
    /// case.
    package static func raw(ofBare value: String, type identifier: String) -> Int? {
        guard let values = values(of: identifier) else { return nil }
        let key = letters(value)
        return values.first { letters($0.0) == key }?.1
    }

    /// Whether the only value that a type's samples can have is `HKCategoryValueNotApplicable`, which is 0.
    package static func isNotApplicable(type identifier: String) -> Bool {
        values(of: identifier)?.map(\.0) == ["NotApplicable"]
    }

    private static func values(of identifier: String) -> [(String, Int)]? {
        guard identifier.hasPrefix(HealthType.categoryPrefix) else { return nil }
        let name = String(identifier.dropFirst(HealthType.categoryPrefix.count))
        let family = CategoryValueTable.sharing.first { $0.value.contains(name) }?.key ?? name
        return CategoryValueTable.families.first { $0.0 == family }?.1
    }

    private static func letters(_ text: String) -> String {
        String(text.lowercased().unicodeScalars.filter(\.properties.isAlphabetic))
    }
}
