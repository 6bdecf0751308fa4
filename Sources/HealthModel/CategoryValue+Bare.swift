/// Category values by their names without HealthKit's prefixes, as apps show them: `Mild`, `Egg White`, `In Bed`.
extension CategoryValue {
    /// The raw value for such a name; nil if the type has no value with that name. Only letters are compared, ignoring
    /// case.
    package static func raw(ofBare value: String, type identifier: String) -> Int? {
        guard let values = values(of: identifier) else { return nil }
        let key = letters(value)
        return values.first { letters($0.0) == key }?.1
    }

    /// The raw value of a name that a person enters for a type: HealthKit's own name, or the same without its prefixes, in
    /// any letter case. Nil for any other name, because nothing is guessed.
    package static func raw(ofEntered name: String, type identifier: String) -> Int? {
        if let raw = raw(of: name) { return raw }
        return name.contains(where: \.isNumber) ? nil : raw(ofBare: name, type: identifier)
    }

    /// The values that a person can enter for a type: "0 Unspecified, 1 NotPresent, 2 Mild", with the preferred name of
    /// each; nil for a type whose names aren't known.
    package static func choices(of identifier: String) -> String? {
        guard let values = values(of: identifier) else { return nil }
        let names = Dictionary(values.map { ($0.1, $0.0) }, uniquingKeysWith: { first, _ in first })
        return names.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
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
