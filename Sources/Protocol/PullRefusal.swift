/// Why a pull isn't answered. Asking again in the same way doesn't help.
package struct PullRefusal: Error {
    package let reason: String
    package init(_ reason: String) { self.reason = reason }

    package static func unknown(_ query: String, among queries: [any Query.Type]) -> Self {
        Self("unknown query '\(query)'; this instance answers \(queries.map { $0.name }.joined(separator: ", "))")
    }
}
