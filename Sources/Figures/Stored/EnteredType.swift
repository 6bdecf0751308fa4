import Client
import HealthModel
import Inspection
import Logging
import Protocol

/// The types that `healthbus events` takes: HealthKit's quantities and categories, and a person's own.
package enum EnteredType {
    /// The type that a person names, with their own types and those held as the stack has them.
    package static func identifier(
        _ text: String, _ stack: Stack, _ reader: StackReader, user: String
    ) throws -> String {
        let own = try EntriesReport(stack, reader, user: user).types.map(\.name)
        return try identifier(text, own: own) { try ObserverQueries(stack, reader).types(of: user) }
    }

    /// The type that a person names, by its identifier or without HealthKit's prefix, in any letter case.
    /// - Parameters:
    ///   - own: the person's own types.
    ///   - held: asked only for other names. The observer judges a type that the store holds without its being the
    ///     person's own: it may belong to a stack that this one follows.
    /// - Throws: `Failure` (usage) with names that can be entered, and how to make a type; whatever `held` throws.
    package static func identifier(_ text: String, own: [String], held: () throws -> Set<String>) throws -> String {
        let all = (healthKit + own).sorted()
        let word = text.lowercased()
        if let found = all.first(where: { [$0, TypeName.short($0)].contains { $0.lowercased() == word } }) {
            return found
        }
        let meaning = OwnTypeNames.meaning(of: text)
        let make = "'healthbus types add \(newName(text, meaning))' makes one of your own"
        switch meaning {
        case .healthKit(let name, isEntered: false)?:
            throw Failure.usage("\(name) can't be entered: it has no single value", hint: make)
        case .healthKit(let name, isEntered: true)?:
            throw Failure.usage("there is no type \(text)", hint: "did you mean \(name)?")
        case .figure?, nil: break
        }
        if try held().contains(text) { return text }
        let nearest = Nearest.to(text, among: all.map(TypeName.short))
        throw Failure.usage(
            "there is no type \(text)",
            hint: (nearest.map { "did you mean \($0)? If not, " } ?? "'healthbus types' lists those in the store; ")
                + make)
    }

    /// Refuses what isn't a value of one of HealthKit's categories. The observer would do so too, but names no values
    /// where everybody on the bus can read them.
    /// - Parameter text: nil if no value is given.
    package static func check(_ text: String?, of type: String) throws(Failure) {
        guard HealthType.known(type)?.kind == .category, let choices = CategoryValue.choices(of: type) else { return }
        if let text, Int64(text) != nil || CategoryValue.raw(ofEntered: text, type: type) != nil { return }
        let name = TypeName.short(type)
        throw .usage(
            text == nil ? "\(name) needs a value" : "the value isn't one of \(name)'s",
            hint: "give a number or a name: \(choices)")
    }

    private static let healthKit = HealthType.allKnown.values
        .filter { $0.kind == .quantity || $0.kind == .category }.map(\.identifier)

    /// A name that 'types add' would accept, as close to the text as possible.
    private static func newName(_ text: String, _ meaning: OwnTypeNames.Meaning?) -> String {
        let name = meaning == nil ? text : OwnTypeNames.proposal(for: text)
        return OwnTypeNames.isWellFormed(name) && !OwnTypeNames.isReserved(name) ? name : "NAME"
    }
}
