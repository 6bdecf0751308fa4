/// What a pull asks a producer for. Each query is a type in a file of its own: its name, its parameters, which are members
/// beside that name in a request, and what answers it. Its description begins with who answers it.
package protocol Query: Codable, Sendable, Equatable {
    associatedtype Answer: PageContent
    static var name: String { get }
    var name: String { get }
}

extension Query { package var name: String { Self.name } }

/// Why a pull isn't answered. Asking again in the same way doesn't help.
package struct PullRefusal: Error {
    package let reason: String
    package init(_ reason: String) { self.reason = reason }

    package static func unknown(_ query: String, among queries: [any Query.Type]) -> Self {
        Self("unknown query '\(query)'; this instance answers \(queries.map { $0.name }.joined(separator: ", "))")
    }
}
