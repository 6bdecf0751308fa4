extension RandomAccessCollection where Index == Int {
    /// The first index of an ordered column that doesn't come before what is sought; the end if all do.
    @inlinable @inline(__always)
    package func firstPlace(behind isBefore: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = (low + high) / 2
            if isBefore(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
