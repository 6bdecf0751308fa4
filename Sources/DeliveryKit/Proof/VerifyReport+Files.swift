import HealthModel

extension VerifyReport {
    /// The files of a folder, each compared with one made again from the stores.
    package struct Files: Sendable, Equatable {
        /// What is wrong with a file: "different", "missing" or "superfluous".
        package static let kinds = ["different", "missing", "superfluous"]

        package var compared: Int
        /// How many have yet to be written.
        package var pending: Int
        /// By kind.
        package var counts: [String: Int]
        /// The first few names of each kind.
        package var first: [String: [String]]

        package var wrong: Int { counts.values.reduce(0, +) }

        /// - Parameter result: what the destination's process answered; nil if that is about elements.
        package init?(_ result: Value) {
            guard result["different"].int != nil else { return nil }
            compared = Int(result["compared"].int ?? 0)
            pending = Int(result["pending"].int ?? 0)
            counts = Dictionary(
                uniqueKeysWithValues: Self.kinds.map { ($0, Int(result[$0].int ?? 0)) })
            first = Dictionary(
                uniqueKeysWithValues: Self.kinds.map { ($0, (result["first"][$0].array ?? []).compactMap(\.string)) })
        }

        func value(right: Bool, destination: String, repaired: Int?, seconds: Double) -> Value {
            [
                "folder": .string(destination), "right": .bool(right), "compared": Value(compared),
                "pending": Value(pending),
                "counts": .object(counts.mapValues { Value($0) }),
                "first": .object(first.mapValues { .array($0.map { .string($0) }) }), "repaired": Value(repaired),
                "seconds": .number(seconds),
            ]
        }
    }
}
