# __cairn_words sets words, cword, cur and prev from the line. Bash ends words at
# "=" and ":" too; this joins them again.
__cairn_words()
{
    local i word last="" line=$COMP_LINE
    words=()
    cword=0
    for ((i = 0; i < ${#COMP_WORDS[@]}; i++)); do
        word=${COMP_WORDS[i]}
        local rest=${line#"${line%%[![:space:]]*}"}
        if ((i > 0)) && [[ $rest == "$line" && ($word =~ ^[=:]+$ || $last =~ ^[=:]+$) ]]; then
            words[${#words[@]}-1]+=$word
        else
            words+=("$word")
        fi
        line=${rest#"$word"}
        last=$word
        ((i == COMP_CWORD)) && cword=$((${#words[@]} - 1))
    done
    cur=${words[cword]}
    prev=
    ((cword > 0)) && prev=${words[cword-1]}
    return 0
}

