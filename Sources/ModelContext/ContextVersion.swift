/// A version of the Model Context Protocol, and what it has.
///
/// Up to 2025-11-25 a client agrees on one with `initialize`; from 2026-07-28 on each request names its own, and
/// nothing is agreed on. This side speaks both.
package enum ContextVersion: String, Sendable, CaseIterable {
    case november2024 = "2024-11-05"
    case march2025 = "2025-03-26"
    case june2025 = "2025-06-18"
    case november2025 = "2025-11-25"
    case july2026 = "2026-07-28"

    /// Names itself in each request.
    package var isStateless: Bool { self == .july2026 }

    /// Several messages in an array; no version before or after has it.
    var takesBatches: Bool { self == .march2025 }
    /// Hints at what a tool does.
    var hasAnnotations: Bool { self != .november2024 }
    /// Titles of tools and of the server, results as JSON beside the text, and their schemas.
    var hasStructure: Bool { self != .november2024 && self != .march2025 }

    /// Those that `initialize` can agree on, oldest first.
    package static let agreed = allCases.filter { !$0.isStateless }
    package static let stateless = allCases.filter(\.isStateless)
    /// Offered to a client that asks for a version unknown here.
    static let newestAgreed = ContextVersion.november2025
}
