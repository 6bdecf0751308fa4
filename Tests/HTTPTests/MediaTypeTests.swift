import HTTP
import Testing

struct MediaTypeTests {
    @Test(
        arguments: [
            ("application/json", "application/json", [:]),
            (" Application/JSON ; Charset=UTF-8", "application/json", ["charset": "UTF-8"]),
            ("text/plain;a=1;b=2", "text/plain", ["a": "1", "b": "2"]),
            (#"multipart/form-data; boundary="a \"b\\;c""#, "multipart/form-data", ["boundary": #"a "b\;c"#]),
            ("application/vnd.api+json;", "application/vnd.api+json", [:]),
            (#"a/b;c="""#, "a/b", ["c": ""]),
        ] as [(String, String, [String: String])])
    func read(_ field: String, _ essence: String, _ parameters: [String: String]) throws {
        let type = try #require(MediaType(field))
        #expect(type.essence == essence)
        #expect(type.parameters == parameters)
    }

    @Test(arguments: [
        "", "json", "/json", "application/", "application/json charset=utf-8", "application/json, text/plain",
        "a/b;c", "a/b;c=", "a/b;=d", "a/b;c=d;C=e", #"a/b;c="d"#, #"a/b;c="d\"#, "a/b;c=d e", "a /b", "a/b;c =d", "ä/b",
        "a/b;;c=d",
    ])
    func refused(_ field: String) { #expect(MediaType(field) == nil) }

    @Test func ofARequest() {
        let request = HTTPRequest(path: "/", headers: ["content-type": "a/B"])
        #expect(request.headers["Content-Type"].flatMap { MediaType($0) }?.essence == "a/b")
    }
}
