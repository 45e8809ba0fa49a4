# cmake -DOUT=x.h -DFILES=a.css;b.js -P Embed.cmake: files as arrays of bytes, with their SHA-256.
set(code "/* Made by cmake/Embed.cmake. */\n")
foreach(file ${FILES})
  get_filename_component(name ${file} NAME)
  string(MAKE_C_IDENTIFIER "asset_${name}" name)
  file(READ ${file} hex HEX)
  file(SHA256 ${file} hash)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
  string(APPEND code "static const unsigned char ${name}[] = {${hex}};\n"
    "static const char ${name}_sha256[] = \"${hash}\";\n")
endforeach()
file(WRITE ${OUT} "${code}")
