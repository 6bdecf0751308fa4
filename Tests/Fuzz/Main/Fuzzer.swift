import FuzzTargets
import Glibc

/// The function that libFuzzer calls with each of its inputs. The environment determines which decoder gets the inputs,
/// so it is enough to build one program once.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    do { try target.run(Array(UnsafeBufferPointer(start: bytes, count: count))) } catch { fatalError("\(error)") }
    return 0
}

private let target: FuzzTarget = {
    let name = getenv("HEALTHBUS_FUZZ").map { String(cString: $0) } ?? ""
    guard let target = FuzzTarget(rawValue: name) else {
        let names = FuzzTarget.allCases.map(\.rawValue).joined(separator: ", ")
        let text = "HEALTHBUS_FUZZ names no decoder: one of \(names)\n"
        write(STDERR_FILENO, text, text.utf8.count)
        exit(2)
    }
    return target
}()
