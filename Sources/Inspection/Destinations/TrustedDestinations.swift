import Protocol

/// Destinations whose acceptance is all that is known: they don't say who they are or what they hold. Pure.
package struct TrustedDestinations: Sendable, Equatable {
    package let names: [String]

    package init(_ names: [String] = []) { self.names = names }

    package init(_ uploaders: [String], _ beats: Beats) {
        names = uploaders.filter { beats[$0]?.beat.uploader?.backend.acceptance == .trust }
    }

    package var isEmpty: Bool { names.isEmpty }

    /// To follow "everything is delivered"; empty if that is proven.
    package var clause: String {
        guard !isEmpty else { return "" }
        let who = names.map { "'\($0)'" }.joined(separator: ", ")
        return ", by \(who) on trust, without proof that the destination keeps it"
    }
}
