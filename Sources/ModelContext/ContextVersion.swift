/// A version of the Model Context Protocol, and its features.
///
/// Up to 2025-11-25, client and server agree on a version with `initialize`; from 2026-07-28 on, each request names its
/// own. We support both.
package enum ContextVersion: String, Sendable, CaseIterable {
    case november2024 = "2024-11-05"
    case march2025 = "2025-03-26"
    case june2025 = "2025-06-18"
    case november2025 = "2025-11-25"
    case july2026 = "2026-07-28"

    /// Whether each request names this version, instead of the two sides agreeing on it once.
    package var isStateless: Bool { self == .july2026 }

    /// Whether several messages may come in an array; no version before or after allows it.
    var takesBatches: Bool { self == .march2025 }
    /// Whether tools have hints about what they do.
    var hasAnnotations: Bool { self != .november2024 }
    /// Whether tools and the server have titles, and results are also given as JSON, with schemas.
    var hasStructure: Bool { self != .november2024 && self != .march2025 }

    /// The versions that `initialize` can agree on, oldest first.
    package static let agreed = allCases.filter { !$0.isStateless }
    package static let stateless = allCases.filter(\.isStateless)
    /// Offered to a client that asks for a version that we don't know.
    static let newestAgreed = ContextVersion.november2025
}
