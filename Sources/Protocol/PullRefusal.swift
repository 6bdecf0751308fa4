/// Why a pull isn't answered. Asking again in the same way doesn't help.
package struct PullRefusal: Error {
    package let reason: String
    package init(_ reason: String) { self.reason = reason }
}
