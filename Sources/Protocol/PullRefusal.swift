/// Why a pull can't be answered, whoever asks again.
package struct PullRefusal: Error {
    package let reason: String
    package init(_ reason: String) { self.reason = reason }
}
