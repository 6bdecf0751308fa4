import HealthModel

/// Whether two JSON texts mean the same, even if an earlier release or another program wrote one of them in a different
/// order, with different whitespace, or without the members that are null.
enum SameContent {
    /// - Parameters: nil and an object without members are the same.
    /// - Returns: false if they differ and one of them isn't JSON.
    static func holds(_ first: UnsafeRawBufferPointer?, _ second: UnsafeRawBufferPointer?) -> Bool {
        if let first, let second, first.elementsEqual(second) { return true }
        // Text that was corrupted behind the backend's back has no meaning.
        guard let first = try? meaning(first), let second = try? meaning(second) else { return false }
        return first == second
    }

    private static func meaning(_ json: UnsafeRawBufferPointer?) throws -> String {
        try json.map { essential(try Value(json: $0)).json() } ?? Value.object([:]).json()
    }

    /// The value without members that are null.
    private static func essential(_ value: Value) -> Value {
        switch value {
        case .object(let members): .object(members.filter { !$0.value.isNull }.mapValues(essential))
        case .array(let elements): .array(elements.map(essential))
        default: value
        }
    }
}
