/// Why a pull can't be answered, no matter who asks or how often.
package struct PullRefusal: Error {
    package let reason: String
    package init(_ reason: String) { self.reason = reason }
}
